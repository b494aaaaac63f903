// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A frame as it lies on the wire, right or wrong (RFC 6455 section 5.2).
package struct RawFrame: Sendable, Equatable {
    package var isFinal = true
    /// RSV1 to RSV3, as they lie in the first byte.
    package var reservedBits: UInt8 = 0
    package var opcode: UInt8
    package var payload: [UInt8]
    /// Whether the frame came masked; the payload is unmasked either way.
    package var isMasked = false

    /// How a length is written; only the shortest form is allowed.
    package enum LengthForm: Sendable {
        case shortest
        case sixteenBits
        case sixtyFourBits
    }

    package init(_ opcode: UInt8, _ payload: [UInt8] = [], isFinal: Bool = true, reservedBits: UInt8 = 0) {
        self.opcode = opcode
        self.payload = payload
        self.isFinal = isFinal
        self.reservedBits = reservedBits
    }

    package static func text(_ text: String, isFinal: Bool = true) -> RawFrame {
        RawFrame(0x1, Array(text.utf8), isFinal: isFinal)
    }

    package static func binary(_ payload: [UInt8], isFinal: Bool = true) -> RawFrame {
        RawFrame(0x2, payload, isFinal: isFinal)
    }

    package static func continuation(_ payload: [UInt8], isFinal: Bool = true) -> RawFrame {
        RawFrame(0x0, payload, isFinal: isFinal)
    }

    package static func ping(_ payload: [UInt8] = []) -> RawFrame { RawFrame(0x9, payload) }

    package static func pong(_ payload: [UInt8] = []) -> RawFrame { RawFrame(0xA, payload) }

    package static func close(_ code: UInt16? = nil, _ reason: String = "") -> RawFrame {
        guard let code else { return RawFrame(0x8) }
        return RawFrame(0x8, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
    }

    /// The code in the payload of a close frame.
    package var closeCode: UInt16? {
        payload.count < 2 ? nil : UInt16(payload[0]) << 8 | UInt16(payload[1])
    }

    /// The reason in the payload of a close frame.
    package var closeReason: String { String(decoding: payload.dropFirst(2), as: UTF8.self) }

    /// The payload as text.
    package var text: String { String(decoding: payload, as: UTF8.self) }

    /// The bytes on the wire.
    package func bytes(key: [UInt8]?, length form: LengthForm = .shortest) -> [UInt8] {
        var bytes = [(isFinal ? 0x80 : 0) | reservedBits | opcode]
        bytes += Self.length(payload.count, isMasked: key != nil, form)
        guard let key else { return bytes + payload }
        bytes += key
        for (index, byte) in payload.enumerated() { bytes.append(byte ^ key[index % 4]) }
        return bytes
    }

    private static func length(_ count: Int, isMasked: Bool, _ form: LengthForm) -> [UInt8] {
        let mask: UInt8 = isMasked ? 0x80 : 0
        let bigEndian = { (size: Int) in (0..<size).map { UInt8(truncatingIfNeeded: count >> (8 * (size - 1 - $0))) } }
        switch form {
        case .shortest where count < 126: return [mask | UInt8(count)]
        case .shortest where count <= 0xFFFF, .sixteenBits: return [mask | 126] + bigEndian(2)
        case .shortest, .sixtyFourBits: return [mask | 127] + bigEndian(8)
        }
    }
}
