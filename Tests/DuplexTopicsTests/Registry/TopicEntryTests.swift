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

@Suite("Messages in JSON")
struct TopicEnvelopeTests {
    @Test("Texts, bytes and what was dropped")
    func texts() {
        let position = TopicPosition(epoch: "e", offset: 7)
        #expect(TopicEnvelope.text("a", "x\n", position) == #"{"topic":"a","text":"x\n","position":"e-7"}"#)
        let behind = TopicEnvelope.text("a", "x", position, isAfterGap: true)
        #expect(behind == #"{"topic":"a","text":"x","position":"e-7","gap":true}"#)
        #expect(TopicEnvelope.text("a", .binary([1, 2]), nil) == #"{"topic":"a","base64":"AQI="}"#)
        #expect(TopicEnvelope.missed("a", 3) == #"{"topic":"a","missed":3}"#)
    }
}

@Suite("What messages have in the forms in which they go to clients")
struct TopicFormsTests {
    /// One of a history.
    private static func entry(_ message: Message) -> TopicEntry {
        TopicEntry("a", TopicPosition(epoch: "e", offset: 1), .message(message))
    }

    @Test("What is in no history isn't kept by its forms")
    func unkept() {
        let forms = TopicForms(10_000)
        weak var gone: TopicEntry?
        do {
            let entry = TopicEntry("a", nil, .message("1"))
            gone = entry
            #expect(entry.frame(forms).message == "1")
        }
        #expect(gone == nil && forms.size == 0)
    }

    @Test("It is bounded: what was made longest ago is given up, and made anew")
    func bound() {
        let forms = TopicForms(5_000)
        let entries = (0..<10).map {
            Self.entry(.text("\($0)" + String(repeating: "x", count: 999)))
        }
        for entry in entries {
            #expect(entry.frame(forms).message == entry.message)
            #expect(forms.size <= 5_000 && forms.size > 0)
        }
        let full = forms.size
        // The last one is there, the first one isn't.
        _ = entries[9].frame(forms)
        #expect(forms.size == full)
        for _ in 0..<3 { #expect(entries[0].envelope(forms).message.description.contains("0xxx")) }
        #expect(entries[0].event(forms)?.event.data == entries[0].message.description)
        #expect(forms.size <= 5_000)
    }

    @Test("A message that is longer than all that is kept goes nevertheless, and isn't kept framed")
    func long() {
        let forms = TopicForms(1_000)
        let entry = Self.entry(.text(String(repeating: "x", count: 5_000)))
        #expect(entry.frame(forms).byteCount == 5_000 && forms.size == 0)
    }

    @Test("What came framed has no frame besides")
    func framed() {
        let forms = TopicForms(10_000)
        #expect(TopicEntry("a", nil, .frame(PreparedMessage("1"))).frame(forms).message == "1")
        #expect(forms.size == 0)
    }
}
