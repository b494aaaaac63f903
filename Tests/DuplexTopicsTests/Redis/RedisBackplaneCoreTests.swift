// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("What Redis keeps of a topic, as it is read")
struct RedisBackplaneCoreTests {
    private static func frame(_ offset: UInt64) -> RedisValue {
        .bulk(TopicFrame(.text("\(offset)"), at: .init(epoch: "e", offset: offset), from: "o", number: offset).encoded)
    }

    private static func read(_ last: String, _ frames: [RedisValue]) -> [UInt64]? {
        BackplaneHistory(.array([.bulk(Array("e".utf8)), .bulk(Array(last.utf8)), .array(frames)]), of: "a")?
            .messages.compactMap(\.position?.offset)
    }

    @Test("Messages are those that lead to the last one without a gap")
    func readsHistory() {
        #expect(Self.read("3", [Self.frame(3), Self.frame(2), Self.frame(1)]) == [1, 2, 3])
        #expect(Self.read("3", [Self.frame(3), Self.frame(1)]) == [3])
        #expect(Self.read("4", [Self.frame(3), Self.frame(2)]) == [])
        #expect(Self.read("3", [Self.frame(3), .bulk([9]), Self.frame(1)]) == [3])
        #expect(Self.read("0", []) == [])
    }

    @Test("What makes no sense is no history")
    func refuses() {
        #expect(Self.read("x", []) == nil)
        #expect(Self.read("-1", []) == nil)
        #expect(BackplaneHistory(.null, of: "a") == nil)
        #expect(BackplaneHistory(.array([.null, .integer(1), .array([])]), of: "a") == nil)
    }
}
