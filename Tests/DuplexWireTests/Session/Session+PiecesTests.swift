// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite struct MessagePieceTests {
    private static func incoming(_ kind: Message.Kind, limit: ByteCount = 10) -> IncomingPieces {
        IncomingPieces(kind, limits: AssemblyLimits(.internet.with(fragments: 2)).streamed(limit))
    }

    @Test("Of a text, what is right before a fault is counted")
    func check() {
        var text = Self.incoming(.text)
        let right = text.check([0x61, 0xC3].span.raw, isLast: false)
        #expect(right.count == 2 && right.failure == nil)
        let wrong = text.check([0xA4, 0x62, 0xC3, 0x28].span.raw, isLast: false)
        #expect(wrong.count == 3 && wrong.failure?.code == .invalidUTF8)
        var cut = Self.incoming(.text)
        let atEnd = cut.check([0x61, 0xC3].span.raw, isLast: true)
        #expect(atEnd.count == 2 && atEnd.failure?.code == .invalidUTF8)
        var binary = Self.incoming(.binary)
        let any = binary.check([0xFF].span.raw, isLast: true)
        #expect(any.count == 1 && any.failure == nil)
    }

    @Test("The first bytes that are given are the first, and the rest of the limit shrinks")
    func give() {
        var pieces = Self.incoming(.binary)
        let first = pieces.give(4)
        let second = pieces.give(5)
        #expect(first && !second)
        #expect(pieces.allowed == 1)
        #expect(throws: WebSocketProtocolError.self) { try pieces.beginFragment(length: 2, isCompressed: false) }
        #expect(throws: Never.self) { try pieces.beginFragment(length: 1, isCompressed: false) }
    }

    @Test("The header of the first frame names the kind and says that the message is compressed")
    func headers() {
        var pieces = OutgoingPieces(.text, isCompressed: true)
        let first = pieces.header(isLast: false, key: nil, length: 3)
        let last = pieces.header(isLast: true, key: 7, length: 0)
        #expect(first == FrameHeader(isFinal: false, reservedBits: 0x40, opcode: .text, payloadLength: 3))
        #expect(last == FrameHeader(opcode: .continuation, maskingKey: 7, payloadLength: 0))
    }
}
