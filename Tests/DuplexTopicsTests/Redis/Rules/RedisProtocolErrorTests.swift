// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("What is said of a server that doesn't speak RESP")
struct RedisProtocolErrorTests {
    @Test("An error says what was seen")
    func saysWhat() {
        var parser = RedisParser()
        var position = 0
        let error = #expect(throws: RedisProtocolError.self) {
            try parser.next(Array("HTTP/1.1".utf8).span.raw, from: &position)
        }
        #expect(error?.description == "What answers isn't a Redis server: “H” begins no value.")
        #expect(error?.code == .malformed)
    }
}
