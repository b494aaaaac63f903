// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Commands of Redis")
struct RedisCommandTests {
    @Test("A command is an array of strings")
    func encodes() {
        let command = RedisCommand("SET", "ключ", .bytes([0, 13, 10]), 42, .number(-7))
        let text = "*5\r\n$3\r\nSET\r\n$8\r\nключ\r\n$3\r\n\0\r\n\r\n$2\r\n42\r\n$2\r\n-7\r\n"
        #expect(command.encoded == Array(text.utf8))
        #expect(command.encodedCount == text.utf8.count)
        #expect(command.name == "SET")
    }

    @Test("Lengths and numbers of any size are written", arguments: [0, 1, 9, 10, 99, 100, 12_345, 99_999, 100_000])
    func encodesLengths(count: Int) throws {
        let bytes = [UInt8](repeating: 0x61, count: count)
        let command = RedisCommand("X", .bytes(bytes), .number(Int64(count)), .number(.min), .number(.max))
        #expect(command.encoded.count == command.encodedCount)
        var parser = RedisParser()
        var position = 0
        let words: [RedisValue] = [
            .bulk([0x58]), .bulk(bytes), .bulk(Array("\(count)".utf8)), .bulk(Array("\(Int64.min)".utf8)),
            .bulk(Array("\(Int64.max)".utf8)),
        ]
        #expect(try parser.next(command.encoded.span.raw, from: &position) == .answer(.array(words)))
    }

    @Test("What is made at run time is a word, too")
    func interpolates() {
        let name = "a"
        #expect(RedisCommand("GET", "key:\(name)").encoded == Array("*2\r\n$3\r\nGET\r\n$5\r\nkey:a\r\n".utf8))
        #expect(RedisCommand([.bytes([1])]).name == "a command")
    }
}
