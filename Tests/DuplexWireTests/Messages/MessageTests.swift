// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Messages")
struct MessageTests {
    @Test("A message knows its kind and its length in bytes")
    func kind() {
        #expect(Message.text("häß").kind == .text)
        #expect(Message.text("häß").byteCount == 5)
        #expect(Message.binary([1, 2]).kind == .binary)
        #expect(Message.binary([1, 2]).byteCount == 2)
    }

    @Test("A literal is a text")
    func literal() {
        #expect("hi" as Message == .text("hi"))
    }

    @Test("A text prints as itself, bytes as their number and the first 32 of them")
    func description() {
        #expect(Message.text("hi").description == "hi")
        #expect(Message.binary([]).description == "0 bytes: ")
        #expect(Message.binary([0, 15, 16, 255]).description == "4 bytes: 00 0f 10 ff")
        let long = Message.binary(.init(repeating: 0xAB, count: 33)).description
        #expect(long == "33 bytes: " + Array(repeating: "ab", count: 32).joined(separator: " ") + " …")
    }
}
