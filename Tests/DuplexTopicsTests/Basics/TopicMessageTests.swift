// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTopics
import DuplexWire
import Testing

@Suite("Messages of topics")
struct TopicMessageTests {
    @Test("Any message has a text")
    func text() {
        #expect(TopicMessage(topic: "a", message: .text("b")).text == "b")
        #expect(TopicMessage(topic: "a", message: .binary([0x62, 0xFF])).text == "b\u{FFFD}")
    }

    @Test("By itself it misses nothing and stands nowhere")
    func defaults() {
        let message = TopicMessage(topic: "a", message: "b")
        #expect(message.missed == 0 && message.position == nil && message.topic == "a")
    }
}
