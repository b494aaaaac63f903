// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("Assembling messages")
struct MessageAssemblerTests {
    static func refusal(_ body: () throws -> Void) -> WebSocketProtocolError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? WebSocketProtocolError)?.code
        }
    }

    @Test("Fragments are put together in order")
    func order() throws {
        var assembler = MessageAssembler(.binary)
        for fragment in [[1, 2], [], [3], [4, 5, 6]] as [[UInt8]] {
            try assembler.beginFragment(length: UInt64(fragment.count), limits: AssemblyLimits(.internet))
            try assembler.append(fragment.span.raw, expected: 0)
        }
        #expect(assembler.fragments == 4)
        #expect(try assembler.finish() == [1, 2, 3, 4, 5, 6])
    }

    @Test("A message may have exactly the allowed size, and not a byte more", arguments: [0, 1, 99, 100])
    func messageSize(held: Int) throws {
        var limits = MessageLimits.internet.with(messageSize: 100)
        limits.frameSize = .unlimited
        var assembler = MessageAssembler(.binary)
        try assembler.append([UInt8](repeating: 0, count: held).span.raw, expected: 0)
        #expect(
            Self.refusal { try assembler.beginFragment(length: UInt64(100 - held), limits: AssemblyLimits(limits)) }
                == nil
        )
        let over = Self.refusal {
            try assembler.beginFragment(length: UInt64(101 - held), limits: AssemblyLimits(limits))
        }
        #expect(over == .messageTooLarge)
        let longest = Self.refusal { try assembler.beginFragment(length: 1 << 63 - 1, limits: AssemblyLimits(limits)) }
        #expect(longest == .messageTooLarge)
    }

    @Test("A frame may have exactly the allowed size, and not a byte more")
    func frameSize() {
        var limits = MessageLimits.internet
        limits.frameSize = 50
        #expect(MessageAssembler.allows(50, held: 0, AssemblyLimits(limits)))
        #expect(!MessageAssembler.allows(51, held: 0, AssemblyLimits(limits)))
    }

    @Test("Without a bound the longest length there is may be announced")
    func unlimited() {
        #expect(MessageAssembler.allows(1 << 63 - 1, held: 0, AssemblyLimits(.unlimited)))
        #expect(!MessageAssembler.allows(1 << 63 - 1, held: 1, AssemblyLimits(.unlimited)))
    }

    @Test("Fragments are counted, empty ones too")
    func fragments() throws {
        var assembler = MessageAssembler(.text)
        let limits = MessageLimits.internet.with(fragments: 3)
        for _ in 0..<3 { try assembler.beginFragment(length: 0, limits: AssemblyLimits(limits)) }
        #expect(
            Self.refusal { try assembler.beginFragment(length: 0, limits: AssemblyLimits(limits)) } == .tooManyFragments
        )
    }

    @Test("Fragments of a compressed message are counted one by one", arguments: [-1, 1, 2, 3])
    func compressedFragments(bound: Int) throws {
        var assembler = MessageAssembler(.text)
        let limits = AssemblyLimits(MessageLimits.internet.with(fragments: bound))
        for _ in 0..<max(1, bound) { try assembler.beginCompressedFragment(limits: limits) }
        #expect(Self.refusal { try assembler.beginCompressedFragment(limits: limits) } == .tooManyFragments)
    }

    @Test(
        "One fragment is always allowed: a message in one frame isn't counted either",
        arguments: [1, 0, -1, Int.min]
    )
    func oneFragment(bound: Int) {
        var assembler = MessageAssembler(.text)
        let limits = MessageLimits.internet.with(fragments: bound)
        #expect(Self.refusal { try assembler.beginFragment(length: 0, limits: AssemblyLimits(limits)) } == nil)
        #expect(
            Self.refusal { try assembler.beginFragment(length: 0, limits: AssemblyLimits(limits)) } == .tooManyFragments
        )
    }

    @Test("A text fails at its first impossible byte, and when it ends within a character; bytes never fail")
    func utf8() throws {
        var text = MessageAssembler(.text)
        try text.append([0x41, 0xE2, 0x82].span.raw, expected: 1)
        #expect(Self.refusal { try text.append([0x41].span.raw, expected: 9) } == .invalidUTF8)
        var unfinished = MessageAssembler(.text)
        try unfinished.append([0x41, 0xE2, 0x82].span.raw, expected: 0)
        #expect(Self.refusal { _ = try unfinished.finish() } == .invalidUTF8)
        var binary = MessageAssembler(.binary)
        try binary.append([0xFF, 0xE2].span.raw, expected: 0)
        #expect(try binary.finish() == [0xFF, 0xE2])
    }

    @Test(
        "Announcing a length holds no more than twice what has arrived, and some KiB",
        arguments: [1, 10, 1_000, 100_000]
    )
    func reservation(count: Int) throws {
        var assembler = MessageAssembler(.binary)
        try assembler.beginFragment(length: 1 << 63 - 1, limits: AssemblyLimits(.unlimited))
        let piece = [UInt8](repeating: 1, count: count)
        for arrived in 1...20 {
            try assembler.append(piece.span.raw, expected: 1 << 63 - 1 - UInt64(arrived * count))
            #expect(assembler.buffer.capacity <= 2 * arrived * count + 8_192)
        }
    }
}
