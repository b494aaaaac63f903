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
