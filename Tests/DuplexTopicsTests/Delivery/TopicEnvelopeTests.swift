// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

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
