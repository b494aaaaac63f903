// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("What topics are called in Redis")
struct RedisTopicNamesTests {
    @Test(
        "All that is of a topic lies in one slot, and no two topics share a key",
        arguments: ["a", "}", "}{", "a}b", "{a}", "ü/}"]
    )
    func sharesSlots(topic: String) throws {
        let names = try RedisTopicNames("app")
        let slot = RedisSlot.of(names.channel(of: topic))
        for what in ["meta", "log", "members"] { #expect(RedisSlot.of(names.key(what, of: topic)) == slot) }
        #expect(names.topic(ofChannel: names.channel(of: topic)) == topic)
        #expect(names.topic(ofChannel: names.key("log", of: topic)) == nil)
    }

    @Test("Names are as they are; what is special in patterns of Redis is escaped")
    func writesNames() throws {
        let names = try RedisTopicNames("a?p")
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        #expect(text(names.key("log", of: "room/42")) == "a?p:{room/42}:log")
        #expect(text(names.channel(of: "room/42")) == "a?p:{room/42}:messages")
        #expect(text(names.glob(of: "a/+/c")) == "a\\?p:{a/*/c}:messages")
        #expect(text(names.glob(of: "a/#")) == "a\\?p:{a*}:messages")
        #expect(text(names.glob(of: "#")) == "a\\?p:{*}:messages")
        #expect(text(names.glob(of: "[x]*/\\/+")) == "a\\?p:{\\[x\\]\\*/\\\\/*}:messages")
        #expect(names.topic(ofChannel: Array("b:{room}:messages".utf8)) == nil)
    }

    @Test("A prefix is something, and has no braces", arguments: ["", "{a}", "a}"])
    func refusesPrefixes(prefix: String) {
        #expect(throws: TopicError.self) { try RedisTopicNames(prefix) }
    }
}
