// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Reads frame headers from bytes in any split (RFC 6455 section 5.2).
///
/// Checks what a header alone shows: that the length is in its shortest form and fits 63 bits. Owns no heap memory.
public struct FrameHeaderParser: Sendable {
    /// The bytes of a header that hasn't arrived whole.
    private var partial = InlineArray<14, UInt8>(repeating: 0)
    private var partialCount: UInt8 = 0

    /// A parser at the beginning of a frame.
    public init() {}

    /// Whether part of a header has been taken.
    public var isMidHeader: Bool { partialCount > 0 }

    /// Reads a header from `position` on, and moves it behind what was taken.
    ///
    /// - Returns: the header; `nil` when more bytes are needed, and then all there were have been taken.
    /// - Throws: ``ProtocolError`` for a length that isn't in its shortest form or doesn't fit 63 bits.
    public mutating func parse(_ input: RawSpan, from position: inout Int) throws(ProtocolError) -> FrameHeader? {
        if partialCount == 0, let header = try Self.whole(input, from: &position) { return header }
        return try parsePartial(input, from: &position)
    }

    /// The header at `position`, if all of it is there.
    @inline(__always)
    static func whole(_ input: RawSpan, from position: inout Int) throws(ProtocolError) -> FrameHeader? {
        let available = input.byteCount - position
        guard available >= 2 else { return nil }
        let size = size(input.byte(at: position + 1))
        guard available >= size else { return nil }
        let header = try header(input.extracting(position..<(position + size)))
        position += size
        return header
    }

    private mutating func parsePartial(
        _ input: RawSpan,
        from position: inout Int
    ) throws(ProtocolError) -> FrameHeader? {
        while position < input.byteCount {
            partial[Int(partialCount)] = input.byte(at: position)
            partialCount += 1
            position += 1
            guard partialCount >= 2, Int(partialCount) == Self.size(partial[1]) else { continue }
            let count = Int(partialCount)
            partialCount = 0
            return try Self.header(partial.span.raw.extracting(0..<count))
        }
        return nil
    }

    /// The size of the header whose second byte that is.
    private static func size(_ second: UInt8) -> Int {
        let length = second & 0x7F
        return (length == 127 ? 10 : length == 126 ? 4 : 2) + (second & 0x80 != 0 ? 4 : 0)
    }

    /// The header in the bytes, which are its whole.
    @inline(__always)
    private static func header(_ bytes: RawSpan) throws(ProtocolError) -> FrameHeader {
        let first = bytes.byte(at: 0)
        let second = bytes.byte(at: 1)
        let length = try payloadLength(second & 0x7F, bytes)
        return FrameHeader(
            isFinal: first & 0x80 != 0,
            reservedBits: first & 0x70,
            opcode: Opcode(rawValue: first),
            maskingKey: second & 0x80 != 0 ? bytes.key(at: bytes.byteCount - 4) : nil,
            payloadLength: length
        )
    }

    @inline(__always)
    private static func payloadLength(_ short: UInt8, _ bytes: RawSpan) throws(ProtocolError) -> UInt64 {
        if short < 126 { return UInt64(short) }
        return try longPayloadLength(short, bytes)
    }

    private static func longPayloadLength(_ short: UInt8, _ bytes: RawSpan) throws(ProtocolError) -> UInt64 {
        switch short {
        case 126:
            let length = UInt64(bytes.byte(at: 2)) << 8 | UInt64(bytes.byte(at: 3))
            // RFC 6455 section 5.2: the minimal number of bytes must be used.
            if length < 126 { throw ProtocolError(.lengthNotMinimal, "A length of \(length) came in 16 bits.") }
            return length
        default:
            let length = bytes.bigEndianWord(at: 2)
            // RFC 6455 section 5.2: the most significant bit must be 0.
            if length >> 63 != 0 { throw ProtocolError(.lengthTooLarge, "A length came with its highest bit set.") }
            if length <= 0xFFFF { throw ProtocolError(.lengthNotMinimal, "A length of \(length) came in 64 bits.") }
            return length
        }
    }
}
