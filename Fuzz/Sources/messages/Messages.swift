// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport

// These are not public: connections use them.
@testable import DuplexDeflate
@testable import DuplexWire

/// Called by libFuzzer for each input: the payloads of messages, each behind its length in two bytes.
///
/// Of the options, the first three bits are the exponent of the window, less 8. With bit 3 messages may refer to those before
/// them, with bit 4 another connection uses the engine between two pieces. Bits 5 and 6 choose how much room there is at a
/// time, or the level. With bit 7 the bytes are deflated, and must come out as they were.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = unsafe FuzzInput(start, count) else { return 0 }
    let run = Run(input)
    if input.options & 0x80 != 0 { run.checkRoundTrip() } else { run.checkInflating() }
    return 0
}

private struct Run {
    let input: FuzzInput
    let windowBits: Int
    let keepsContext: Bool
    let isInterrupted: Bool
    /// The number in bits 5 and 6.
    let choice: Int

    /// The most bytes that come out of a message: fewer with little room, where each turn costs another connection's as well.
    private var limit: Int { choice == 0 ? 15_000 : 150_000 }

    init(_ input: FuzzInput) {
        self.input = input
        windowBits = 8 + Int(input.options & 7)
        keepsContext = input.options & 8 != 0
        isInterrupted = input.options & 16 != 0
        choice = Int(input.options >> 5 & 3)
    }

    /// The payloads.
    private var messages: [[UInt8]] {
        var messages: [[UInt8]] = []
        var rest = input.bytes[...]
        while rest.count >= 2 {
            let count = Int(rest[rest.startIndex]) | Int(rest[rest.startIndex + 1]) << 8
            rest = rest.dropFirst(2)
            messages.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return messages
    }

    // MARK: Inflating

    /// In each way of cutting, all messages give what they give with zlib.
    func checkInflating() {
        for way in 0..<3 {
            guard let zlib = ZlibInflater(windowBits: windowBits) else { return }
            let pool = DeflatePool()
            let inflater = Inflater(windowBits: windowBits, keepsContext: keepsContext, pool: pool)
            let bounded = Bounded(inflater, other: isInterrupted ? Inflater(pool: pool) : nil)
            var context: [UInt8] = []
            for message in messages {
                let pieces = FuzzInput.cut(message, way, input)
                guard compare(message, pieces, zlib, bounded, &context) else { break }
                if choice == 1 { inflater.rest() }
            }
        }
    }

    /// Returns whether another message may follow.
    private func compare(
        _ message: [UInt8],
        _ pieces: [[UInt8]],
        _ zlib: ZlibInflater,
        _ ours: Bounded,
        _ context: inout [UInt8]
    ) -> Bool {
        // More room for zlib, so that it is seen what lies behind the limit.
        let expected = inflated([message], by: zlib, limit: limit + 1_000, room: limit + 1_000)
        let result = inflated(pieces, by: ours, limit: limit, room: [13, 300, 5_000, 65_536][choice])
        if expected.bytes.count >= limit || expected.progress == .outputFull {
            let isRight = expected.bytes.starts(with: result.bytes) || result.progress == .corrupt
            require(isRight, "\(pieces.map(\.count)): \(result.bytes.count) bytes that zlib doesn't give")
            return false
        }
        let difference = result.difference(from: expected, message, context: context, windowBits: windowBits)
        require(difference == nil, "\(pieces.map(\.count)) of \(windowBits) bits: \(difference ?? "")")
        if expected.progress != .inputTaken || result.progress != .inputTaken { return false }
        if keepsContext { context += expected.bytes } else { zlib.reset() }
        return true
    }

    // MARK: Deflating

    /// The bytes in the pieces that the input asks for, each as a message: every third without reference to others, every
    /// fourth in two pieces.
    func checkRoundTrip() {
        let pool = DeflatePool()
        let settings = Deflater.Settings(windowBits: windowBits, level: [1, 6, 8, 9][choice])
        let deflater = Deflater(settings, keepsContext: keepsContext, pool: pool)
        let alone = Deflater(settings, keepsContext: false, pool: pool)
        let inflater = Inflater(windowBits: windowBits, keepsContext: keepsContext, pool: pool)
        guard let zlib = ZlibInflater(windowBits: windowBits) else { return }
        for (number, message) in input.pieces.enumerated() {
            var payload: [UInt8] = []
            if number % 3 == 2 {
                _ = alone.deflate(rawSpan(of: message), into: &payload)
                deflater.follow(rawSpan(of: message))
            } else {
                let cut = number % 4 == 3 ? message.count / 2 : 0
                let (first, rest) = (Array(message[..<cut]), Array(message[cut...]))
                if cut > 0 { _ = deflater.deflate(rawSpan(of: first), isLast: false, into: &payload) }
                _ = deflater.deflate(rawSpan(of: rest), into: &payload)
            }
            // So little room at a time that zlib has no more than its window to look back to.
            let byZlib = inflated([payload], by: zlib, room: 16)
            require(byZlib == Inflated(bytes: message), "message \(number) by zlib: \(byZlib.bytes.count) bytes")
            if !keepsContext { zlib.reset() }
            let byOurs = inflated([payload], by: inflater)
            require(byOurs == Inflated(bytes: message), "message \(number): \(byOurs.bytes.count) bytes")
        }
    }
}

extension FuzzInput {
    /// The message whole, in the sizes that the input asks for, or in single bytes at its beginning.
    fileprivate static func cut(_ message: [UInt8], _ way: Int, _ input: FuzzInput) -> [[UInt8]] {
        switch way {
        case 0: [message]
        case 1: input.pieces(of: message)
        default: message.prefix(128).map { [$0] } + [Array(message.dropFirst(128))]
        }
    }
}

/// Sees that no call gives more than it may, and lets another connection have the engine in between.
private final class Bounded: MessageInflater {
    private let inflater: Inflater
    private let other: Inflater?

    private static let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]

    init(_ inflater: Inflater, other: Inflater?) {
        self.inflater = inflater
        self.other = other
    }

    func inflate(
        _ input: RawSpan,
        from position: inout Int,
        into output: inout [UInt8],
        upTo room: Int
    ) -> InflateProgress {
        let (before, start) = (output.count, position)
        let progress = inflater.inflate(input, from: &position, into: &output, upTo: room)
        check(output.count - before, room, progress)
        require(start...input.byteCount ~= position, "it stands at \(position) of \(input.byteCount)")
        require(progress != .inputTaken || position == input.byteCount, "not all of the input is taken")
        interrupt()
        return progress
    }

    func inflateEnd(into output: inout [UInt8], upTo room: Int) -> InflateProgress {
        let before = output.count
        let progress = inflater.inflateEnd(into: &output, upTo: room)
        check(output.count - before, room, progress)
        return progress
    }

    private func check(_ given: Int, _ room: Int, _ progress: InflateProgress) {
        require(given <= room, "\(given) bytes came into room for \(room)")
        require(given == room || progress != .outputFull, "it stops with room for \(room - given)")
    }

    private func interrupt() {
        guard let other else { return }
        let hello = inflated([Self.hello], by: other)
        require(hello == Inflated(bytes: Array("Hello".utf8)), "the other connection got \(hello)")
    }

    func endMessage() { inflater.endMessage() }
    func rest() { inflater.rest() }
    func stop() { inflater.stop() }
}
