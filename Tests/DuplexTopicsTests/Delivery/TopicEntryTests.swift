// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("A message on its way")
struct TopicEntryTests {
    @Test("What was published has any form, whichever it came in")
    func everyForm() {
        let forms = TopicForms(10_000)
        let position = TopicPosition(epoch: "e", offset: 3)
        let payloads: [TopicEntry.Payload] = [.message("hé"), .frame(PreparedMessage("hé"))]
        for payload in payloads {
            let entry = TopicEntry("a", position, payload)
            #expect(entry.message == "hé" && entry.byteCount == 3 && entry.number == 3)
            #expect(entry.frame(forms).message == "hé")
            #expect(entry.event(forms)?.event.data == "hé" && entry.event(forms)?.event.id == "e-3")
            #expect(
                entry.topicMessage(missed: 2) == TopicMessage(topic: "a", message: "hé", position: position, missed: 2)
            )
        }
    }

    @Test("What can't be the id of an event makes none")
    func noEvent() {
        let forms = TopicForms(10_000)
        #expect(TopicEntry("a", TopicPosition(epoch: "e\n", offset: 3), .message("b")).event(forms) == nil)
        #expect(TopicEntry("a", nil, .message("b")).event(forms)?.event.id == nil)
    }
}
