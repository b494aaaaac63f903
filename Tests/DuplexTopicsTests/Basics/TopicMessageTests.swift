// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTopics
import DuplexWire
import Foundation
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

@Suite("Positions in the history of a topic")
struct TopicPositionTests {
    @Test("A position is read back from its text")
    func text() throws {
        let position = TopicPosition(epoch: "3f.1", offset: 42)
        #expect(position.description == "3f.1-42")
        #expect(TopicPosition("3f.1-42") == position)
    }

    @Test("What isn't one", arguments: ["", "-", "a", "a-", "-1", "a--1", "a-b", "a-1-2", "a-18446744073709551616"])
    func faults(_ text: String) {
        #expect(TopicPosition(text) == nil)
    }

    @Test("A position is kept as its text")
    func codable() throws {
        let positions = [TopicPosition(epoch: "3f.1", offset: 42)]
        let json = try JSONEncoder().encode(positions)
        #expect(String(decoding: json, as: UTF8.self) == #"["3f.1-42"]"#)
        #expect(try JSONDecoder().decode([TopicPosition].self, from: json) == positions)
        for fault in ["[42]", #"["42"]"#] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode([TopicPosition].self, from: Data(fault.utf8))
            }
        }
    }
}
