// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What stands before a frame's payload (RFC 6455 section 5.2).
public struct FrameHeader: Sendable, Hashable {
    /// Whether this is the last fragment of its message.
    public var isFinal: Bool
    /// The bits RSV1 to RSV3, as they lie in the first byte (0x40, 0x20, 0x10).
    public var reservedBits: UInt8
    /// What the frame carries.
    public var opcode: Opcode
    /// The masking key, its first byte lowest; `nil` when the payload isn't masked.
    public var maskingKey: UInt32?
    /// The length of the payload in bytes; at most 2^63 - 1.
    public var payloadLength: UInt64

    /// The longest header there is: two bytes, eight of length, four of key.
    public static let maximumSize = 14
    /// The longest payload of a control frame (RFC 6455 section 5.5).
    public static let maximumControlPayload = 125

    /// Makes a header.
    public init(
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
    public static func size(payload count: Int, isMasked: Bool) -> Int {
        (count < 126 ? 2 : count <= 0xFFFF ? 4 : 10) + (isMasked ? 4 : 0)
    }

    /// Writes the header in its shortest form; traps when there is no room for it.
    public func write(into output: inout OutputRawSpan) {
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
