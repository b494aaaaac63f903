// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Values of Redis as they are asked for")
struct RedisValueTests {
    @Test("Strings of any kind are texts and bytes")
    func readsStrings() {
        for value in [.simple("7"), .bulk([0x37]), .verbatim(format: "txt", [0x37]), .bigNumber("7")] as [RedisValue] {
            #expect(value.text == "7")
            #expect(value.bytes == [0x37])
            #expect(value.integer == 7)
        }
        for value in [.null, .boolean(true), .array([]), .double(1)] as [RedisValue] {
            #expect(value.text == nil)
            #expect(value.bytes == nil)
            #expect(value.integer == nil)
        }
        #expect(RedisValue.integer(3).integer == 3)
        #expect(RedisValue.bulk([0xFF]).text == "\u{FFFD}")
    }

    @Test("Arrays and sets have elements")
    func readsElements() {
        #expect(RedisValue.array([.null]).elements == [.null])
        #expect(RedisValue.set([.null]).elements == [.null])
        #expect(RedisValue.map([]).elements == nil)
    }

    @Test("A name is found in a map, and in what RESP2 has for one")
    func findsNames() {
        let pairs = [RedisValue.Pair(.simple("a"), .integer(1)), RedisValue.Pair(.bulk([0x62]), .integer(2))]
        let flat = pairs.flatMap { [$0.key, $0.value] }
        for value in [RedisValue.map(pairs), .array(flat), .array(flat + [.simple("c")])] {
            #expect(value.value(of: "a") == .integer(1))
            #expect(value.value(of: "b") == .integer(2))
            #expect(value.value(of: "c") == nil)
        }
        #expect(RedisValue.null.value(of: "a") == nil)
        #expect(RedisValue.array([]).value(of: "a") == nil)
    }
}

@Suite("Errors of Redis")
struct RedisErrorReplyTests {
    @Test(
        "The first word is the kind",
        arguments: [
            ("NOAUTH Authentication required.", .authenticationRequired), ("LOADING", .loading),
            ("READONLY You can't write against a read only replica.", .readOnly), ("", .init(rawValue: "")),
        ] as [(String, RedisErrorReply.Kind)]
    )
    func readsKind(text: String, kind: RedisErrorReply.Kind) {
        #expect(RedisErrorReply(text).kind == kind)
        #expect(RedisErrorReply(text).description == text)
    }

    @Test("Redirections say where to")
    func readsRedirections() {
        let moved = RedisErrorReply("MOVED 3999 127.0.0.1:6381").redirection
        #expect(moved?.slot == 3_999)
        #expect(moved?.host == "127.0.0.1")
        #expect(moved?.port == 6_381)
        let ask = RedisErrorReply("ASK 0 fe80::1:7000").redirection
        #expect(ask?.host == "fe80::1")
        #expect(ask?.port == 7_000)
        // A node that doesn't know its own name.
        #expect(RedisErrorReply("MOVED 1 :6381").redirection?.host == nil)
        #expect(RedisErrorReply("MOVED 1 :6381").redirection?.port == 6_381)
    }

    @Test(
        "What makes no sense is no redirection",
        arguments: [
            "ERR 3999 127.0.0.1:6381", "MOVED", "MOVED 1", "MOVED x a:1", "MOVED 16384 a:1", "MOVED -1 a:1",
            "MOVED 1 a",
            "MOVED 1 a:0", "MOVED 1 a:65536", "MOVED 1 a:x",
        ]
    )
    func refusesNonsense(text: String) {
        #expect(RedisErrorReply(text).redirection == nil)
    }
}
