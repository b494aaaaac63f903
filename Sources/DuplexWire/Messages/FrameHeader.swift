// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What stands before a frame's payload (RFC 6455 section 5.2).
package struct FrameHeader: Sendable, Hashable {
    /// Whether this is the last fragment of its message.
    package var isFinal: Bool
    /// The bits RSV1 to RSV3, as they lie in the first byte (0x40, 0x20, 0x10).
    package var reservedBits: UInt8
    /// What the frame carries.
    package var opcode: Opcode
    /// The masking key, its first byte lowest; `nil` when the payload isn't masked.
    package var maskingKey: UInt32?
    /// The length of the payload in bytes; at most 2^63 - 1.
    package var payloadLength: UInt64

    /// The longest header there is: two bytes, eight of length, four of key.
    package static let maximumSize = 14
    /// The longest payload of a control frame (RFC 6455 section 5.5).
    package static let maximumControlPayload = 125

    /// Makes a header.
    package init(
        isFinal: Bool = true,
        reservedBits: UInt8 = 0,
        opcode: Opcode,
        maskingKey: UInt32? = nil,
        payloadLength: UInt64
    ) {
        self.isFinal = isFinal
        self.reservedBits = reservedBits & 0x70
        self.opcode = opcode
        self.maskingKey = maskingKey
        self.payloadLength = payloadLength
    }

    /// The size of the header before a payload of that length, in its shortest form.
    package static func size(payload count: Int, isMasked: Bool) -> Int {
        (count < 126 ? 2 : count <= 0xFFFF ? 4 : 10) + (isMasked ? 4 : 0)
    }

    /// Writes the header in its shortest form; traps when there is no room for it.
    package func write(into output: inout OutputRawSpan) {
        output.append((isFinal ? 0x80 : 0) | reservedBits | opcode.rawValue)
        let mask: UInt8 = maskingKey == nil ? 0 : 0x80
        if payloadLength < 126 {
            output.append(mask | UInt8(payloadLength))
        } else if payloadLength <= 0xFFFF {
            output.append(mask | 126)
            output.append(UInt8(truncatingIfNeeded: payloadLength >> 8))
            output.append(UInt8(truncatingIfNeeded: payloadLength))
        } else {
            output.append(mask | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                output.append(UInt8(truncatingIfNeeded: payloadLength >> UInt64(shift)))
            }
        }
        guard let maskingKey else { return }
        for shift in stride(from: 0, through: 24, by: 8) {
            output.append(UInt8(truncatingIfNeeded: maskingKey >> UInt32(shift)))
        }
    }
}

/// What a frame carries (RFC 6455 section 5.2; IANA registry "WebSocket Opcode").
public struct Opcode: RawRepresentable, Sendable, Hashable {
    /// Four bits.
    public let rawValue: UInt8

    /// The opcode of the low four bits.
    @inlinable
    public init(rawValue: UInt8) {
        self.rawValue = rawValue & 0x0F
    }

    /// A further fragment of a message.
    public static let continuation = Opcode(rawValue: 0x0)
    /// The first fragment of a text message, or a whole one.
    public static let text = Opcode(rawValue: 0x1)
    /// The first fragment of a binary message, or a whole one.
    public static let binary = Opcode(rawValue: 0x2)
    /// Begins or answers the closing handshake.
    public static let close = Opcode(rawValue: 0x8)
    /// Asks for a pong.
    public static let ping = Opcode(rawValue: 0x9)
    /// Answers a ping, or is a sign of life.
    public static let pong = Opcode(rawValue: 0xA)

    /// Whether frames with this opcode steer the connection instead of carrying data (RFC 6455 section 5.5).
    package var isControl: Bool { rawValue & 0x8 != 0 }

    /// Whether no meaning has been given to this opcode.
    package var isReserved: Bool { !(rawValue <= 0x2 || (0x8...0xA).contains(rawValue)) }
}

extension Opcode: CustomStringConvertible {
    /// What it is, for people.
    public var description: String {
        switch self {
        case .continuation: "continuation"
        case .text: "text"
        case .binary: "binary"
        case .close: "close"
        case .ping: "ping"
        case .pong: "pong"
        default: "opcode \(rawValue)"
        }
    }
}

/// Where a client takes its masking keys from: each must be fresh and unpredictable (RFC 6455 section 10.3).
///
/// A reference, because sessions of servers have none and all have a place for it.
public final class MaskingKeys: Sendable {
    private let draw: @Sendable () -> UInt32

    /// A source that is asked once for each frame.
    public init(_ draw: @escaping @Sendable () -> UInt32) {
        self.draw = draw
    }

    func next() -> UInt32 {
        draw()
    }
}

/// Reads frame headers from bytes in any split (RFC 6455 section 5.2).
///
/// Checks what a header alone shows: that the length is in its shortest form and fits 63 bits. Owns no heap memory.
package struct FrameHeaderParser: Sendable {
    /// The bytes of a header that hasn't arrived whole.
    private var partial = InlineArray<14, UInt8>(repeating: 0)
    private var partialCount: UInt8 = 0

    /// A parser at the beginning of a frame.
    package init() {}

    /// Whether part of a header has been taken.
    package var isMidHeader: Bool { partialCount > 0 }

    /// Reads a header from `position` on, and moves it behind what was taken.
    ///
    /// - Returns: the header; `nil` when more bytes are needed, and then all there were have been taken.
    /// - Throws: ``WebSocketProtocolError`` for a length that isn't in its shortest form or doesn't fit 63 bits.
    package mutating func parse(
        _ input: RawSpan,
        from position: inout Int
    ) throws(WebSocketProtocolError) -> FrameHeader? {
        if partialCount == 0, let header = try Self.whole(input, from: &position) { return header }
        return try parsePartial(input, from: &position)
    }

    /// The header at `position`, if all of it is there.
    @inline(__always)
    static func whole(_ input: RawSpan, from position: inout Int) throws(WebSocketProtocolError) -> FrameHeader? {
        let available = input.byteCount - position
        guard available >= 2 else { return nil }
        let size = size(input.byte(at: position + 1))
        guard available >= size else { return nil }
        let header = try header(input.extracting(position..<(position + size)))
        position += size
        return header
    }

    /// A whole message in one frame.
    struct WholeFrame {
        var isText: Bool
        /// Where the payload begins, and how long it is.
        var start: Int
        var count: Int
        /// 0 where it isn't masked.
        var key: UInt32
    }

    /// Finds a message that is in one frame, all of which is there, without reserved bits and with a header without fault.
    ///
    /// - Parameters:
    ///   - input: what has arrived.
    ///   - position: where the frame begins.
    ///   - isMasked: whether it has to be masked, or must not be.
    /// - Returns: where its payload lies; `nil` for everything else.
    @inline(__always)
    static func wholeMessage(_ input: RawSpan, at position: Int, isMasked: Bool) -> WholeFrame? {
        // Bounds are checked here, and not once more for each byte of the header.
        let rest = input.extracting(droppingFirst: position)
        guard rest.byteCount >= 2 else { return nil }
        // The end of its message, and text (1) or binary (2).
        let first = rest.byte(at: 0)
        guard first == 0x81 || first == 0x82 else { return nil }
        // With the mask's bit taken out where it belongs, everything above 127 is wrong.
        var count = Int(rest.byte(at: 1) ^ (isMasked ? 0x80 : 0))
        var size = isMasked ? 6 : 2
        if count == 126 {
            guard rest.byteCount >= 4, let length = shortestLength(in16Bits: rest.half(at: 2)) else { return nil }
            (size, count) = (size &+ 2, Int(length))
        } else if count > 126 {
            guard let length = wholeLength(count, rest) else { return nil }
            (size, count) = (size &+ 8, length)
        }
        // No overflow: a length that isn't negative, less than 15.
        guard count <= rest.byteCount &- size else { return nil }
        return WholeFrame(
            isText: first == 0x81,
            start: position &+ size,
            count: count,
            key: isMasked ? rest.key(at: size &- 4) : 0
        )
    }

    /// A length that stands in 64 bits (127), if it is all there and without fault.
    @inline(never)
    private static func wholeLength(_ short: Int, _ input: RawSpan) -> Int? {
        guard short == 127, input.byteCount >= 10 else { return nil }
        let bytes = input.extracting(0..<10)
        return (try? longPayloadLength(127, bytes)).flatMap { Int(exactly: $0) }
    }

    /// A length from the 16 bits that hold it; `nil` if it had to be in 7 (RFC 6455 section 5.2: the minimal number of bytes
    /// must be used).
    @inline(__always)
    private static func shortestLength(in16Bits length: UInt16) -> UInt64? { length < 126 ? nil : UInt64(length) }

    private mutating func parsePartial(
        _ input: RawSpan,
        from position: inout Int
    ) throws(WebSocketProtocolError) -> FrameHeader? {
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
    private static func header(_ bytes: RawSpan) throws(WebSocketProtocolError) -> FrameHeader {
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
    private static func payloadLength(_ short: UInt8, _ bytes: RawSpan) throws(WebSocketProtocolError) -> UInt64 {
        if short < 126 { return UInt64(short) }
        return try longPayloadLength(short, bytes)
    }

    private static func longPayloadLength(_ short: UInt8, _ bytes: RawSpan) throws(WebSocketProtocolError) -> UInt64 {
        switch short {
        case 126:
            let word = bytes.half(at: 2)
            guard let length = shortestLength(in16Bits: word) else {
                throw WebSocketProtocolError(.lengthNotMinimal, "A length of \(word) came in 16 bits.")
            }
            return length
        default:
            let length = bytes.bigEndianWord(at: 2)
            // RFC 6455 section 5.2: the most significant bit must be 0.
            if length >> 63 != 0 {
                throw WebSocketProtocolError(.lengthTooLarge, "A length came with its highest bit set.")
            }
            if length <= 0xFFFF {
                throw WebSocketProtocolError(.lengthNotMinimal, "A length of \(length) came in 64 bits.")
            }
            return length
        }
    }
}
