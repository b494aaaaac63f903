// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexWire

@Suite("Receiving text")
struct SessionTextTests {
    static let broken: [[UInt8]] = [
        [0x80], [0xC0, 0xAF], [0xC3], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80],
        [0xFF],
        Array("Hello-µ@ßöäüàá-".utf8) + [0xED, 0xA0, 0x80] + Array("UTF-8!!".utf8),
        Array(repeating: 0x61, count: 64) + [0xE2, 0x28, 0xA1],
    ]

    @Test("Text that isn't UTF-8 is refused", arguments: bothRoles, broken)
    func refused(role: WebSocketSession.Role, text: [UInt8]) {
        var conversation = Conversation(role)
        conversation.receive(.text(text))
        conversation.expectFailing(.invalidFramePayloadData, .invalidUTF8)
    }

    @Test("Bytes may be anything", arguments: bothRoles, broken)
    func binary(role: WebSocketSession.Role, bytes: [UInt8]) {
        var conversation = Conversation(role)
        conversation.receive(.binary(bytes), PeerFrame.binary(bytes).unfinished, .continuation(bytes))
        conversation.expect(.binary(bytes), .binary(bytes + bytes))
    }

    @Test("Characters may be cut anywhere between fragments", arguments: bothRoles)
    func acrossFragments(role: WebSocketSession.Role) {
        let text = "aé€😀z"
        let bytes = Array(text.utf8)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                var conversation = Conversation(role)
                conversation.verifier.randomSplits = 2
                conversation.receive(
                    .text(Array(bytes[..<first])).unfinished,
                    .continuation(Array(bytes[first..<second])).unfinished,
                    .continuation(Array(bytes[second...]))
                )
                conversation.expect(.text(text))
            }
        }
    }

    @Test("A character begun in one fragment and not finished in the next is refused", arguments: bothRoles)
    func brokenAcrossFragments(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(.text([0xE2]).unfinished, .continuation([0x82]).unfinished, .continuation([0x41]))
        conversation.expectFailing(.invalidFramePayloadData, .invalidUTF8)
        var unfinished = Conversation(role)
        unfinished.receive(.text([0xE2]).unfinished, .continuation([0x82]))
        unfinished.expectFailing(.invalidFramePayloadData, .invalidUTF8)
    }

    @Test(
        "The first impossible byte is refused although most of its frame is still to come",
        arguments: bothRoles,
        broken
    )
    func early(role: WebSocketSession.Role, text: [UInt8]) {
        var conversation = Conversation(role)
        conversation.receive(.text("ok"), .text(text + [0xFF]).announcing(100_000))
        conversation.expectFailing(.invalidFramePayloadData, .invalidUTF8, after: .text("ok"))
    }

    @Test(
        "A character that may still be finished isn't refused",
        arguments: [[0xC3], [0xE2, 0x82], [0xF4, 0x8F, 0xBF]] as [[UInt8]]
    )
    func unfinished(text: [UInt8]) {
        var conversation = Conversation(.client)
        conversation.receive(.text(text).announcing(10))
        conversation.expect()
        var fragment = Conversation(.client)
        fragment.receive(.text(text).unfinished)
        fragment.expect()
    }

    @Test("Each message begins anew: an unfinished character doesn't reach into the next")
    func independent() {
        var conversation = Conversation(.server)
        conversation.receive(PeerFrame.binary([0xE2]).unfinished, .continuation([0x82]), .text("a"), .text("€"))
        conversation.expect(.binary([0xE2, 0x82]), .text("a"), .text("€"))
    }

    @Test("Random texts in random fragments arrive, right or wrong as a whole", arguments: UInt64(1)...6)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            var bytes = Array(String("aé€😀".shuffled(using: &generator) + "tail").utf8)
            if Bool.random(using: &generator), let place = bytes.indices.randomElement(using: &generator) {
                bytes[place] = [0x80, 0xC3, 0xED, 0xF4, 0xFF].randomElement(using: &generator) ?? 0xFF
            }
            let cuts = [0, Int.random(in: bytes.indices, using: &generator), bytes.count]
            var conversation = Conversation(.server)
            conversation.verifier.randomSplits = 4
            conversation.receive(.text(Array(bytes[..<cuts[1]])).unfinished, .continuation(Array(bytes[cuts[1]...])))
            if let text = String(validating: bytes, as: UTF8.self) {
                conversation.expect(.text(text))
            } else {
                conversation.expectFailing(.invalidFramePayloadData, .invalidUTF8)
            }
        }
    }
}
