// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Slots of a Redis cluster")
struct RedisSlotTests {
    /// What `redis-cli CLUSTER KEYSLOT` says; RedisClusterTests asks it for more.
    @Test(
        "A key has the slot that the specification gives it",
        arguments: [
            ("", 0), ("123456789", 12_739), ("foo", 12_182), ("{foo}", 12_182), ("a{foo}b", 12_182),
            ("a{foo}{bar}", 12_182),
            ("foo{}{bar}", 8_363), ("foo{{bar}}zap", 4_015), ("bar", 5_061),
        ]
    )
    func hasSlot(key: String, slot: Int) {
        #expect(RedisSlot.of(key) == slot)
        #expect(RedisSlot.of(Array(key.utf8)) == slot)
    }

    @Test("Braces without anything between them, or without an end, are a part of the key")
    func takesBraces() {
        #expect(RedisSlot.of("{}a") != RedisSlot.of(""))
        #expect(RedisSlot.of("{a") != RedisSlot.of("a"))
        #expect(RedisSlot.of("}a{") != RedisSlot.of(""))
    }
}
