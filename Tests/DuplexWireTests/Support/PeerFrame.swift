// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// A frame as a peer sends it, right or wrong; made and read a byte at a time, by none of the code that is tested.
struct PeerFrame: Equatable, Sendable {
    var opcode: Opcode
    var payload: [UInt8]
    var isFinal = true
    var reservedBits: UInt8 = 0
    /// Whether the frame is masked although it must not be, or isn't although it must.
    var isWronglyMasked = false
    /// The length in the header, when it isn't that of the payload.
    var announcedLength: UInt64?

    static func text(_ text: String) -> PeerFrame { PeerFrame(opcode: .text, payload: Array(text.utf8)) }
    static func text(_ bytes: [UInt8]) -> PeerFrame { PeerFrame(opcode: .text, payload: bytes) }
    static func binary(_ bytes: [UInt8]) -> PeerFrame { PeerFrame(opcode: .binary, payload: bytes) }
    static func continuation(_ bytes: [UInt8]) -> PeerFrame { PeerFrame(opcode: .continuation, payload: bytes) }
    static func ping(_ text: String) -> PeerFrame { PeerFrame(opcode: .ping, payload: Array(text.utf8)) }
    static func pong(_ bytes: [UInt8]) -> PeerFrame { PeerFrame(opcode: .pong, payload: bytes) }
    static let emptyClose = PeerFrame(opcode: .close, payload: [])

    static func close(_ code: UInt16, _ reason: String = "") -> PeerFrame {
        PeerFrame(opcode: .close, payload: [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
    }

    /// The same frame as a fragment that others follow.
    var unfinished: PeerFrame { changing { $0.isFinal = false } }
    /// The same frame masked in the wrong direction.
    var wronglyMasked: PeerFrame { changing { $0.isWronglyMasked = true } }

    /// The same frame with those reserved bits.
    func reserved(_ bits: UInt8) -> PeerFrame { changing { $0.reservedBits = bits } }

    /// The same frame with another length in its header.
    func announcing(_ length: UInt64) -> PeerFrame { changing { $0.announcedLength = length } }

    private func changing(_ change: (inout PeerFrame) -> Void) -> PeerFrame {
        var copy = self
        change(&copy)
        return copy
    }
}

extension PeerFrame {
    static let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

    /// The frame on its way to that role, masked as it must be unless it is wrong.
    func bytes(to role: WebSocketSession.Role) -> [UInt8] {
        let isMasked = (role == .server) != isWronglyMasked
        let length = announcedLength ?? UInt64(payload.count)
        var bytes = [(isFinal ? 0x80 : 0) | reservedBits | opcode.rawValue]
        let mask: UInt8 = isMasked ? 0x80 : 0
        switch length {
        case ..<126: bytes.append(mask | UInt8(length))
        case ..<65_536: bytes += [mask | 126, UInt8(length >> 8), UInt8(length & 0xFF)]
        default: bytes += [mask | 127] + (0..<8).map { UInt8(truncatingIfNeeded: length >> UInt64(56 - 8 * $0)) }
        }
        return bytes + (isMasked ? Self.key + maskedByLoop(payload, with: Self.key) : payload)
    }

    /// Reads what a session has written.
    ///
    /// - Returns: `nil` when it isn't a row of whole frames, each masked or not as `isMasked` says.
    static func read(_ bytes: [UInt8], isMasked: Bool) -> [PeerFrame]? {
        var frames: [PeerFrame] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let frame = readOne(&rest, isMasked: isMasked) else { return nil }
            frames.append(frame)
        }
        return frames
    }

    private static func readOne(_ rest: inout ArraySlice<UInt8>, isMasked: Bool) -> PeerFrame? {
        guard let head = take(2, &rest), (head[1] & 0x80 != 0) == isMasked else { return nil }
        let short = Int(head[1] & 0x7F)
        guard let long = take(short == 127 ? 8 : short == 126 ? 2 : 0, &rest) else { return nil }
        let length = long.isEmpty ? short : long.reduce(0) { $0 << 8 | Int($1) }
        guard let key = take(isMasked ? 4 : 0, &rest), let payload = take(length, &rest) else { return nil }
        return PeerFrame(
            opcode: Opcode(rawValue: head[0] & 0x0F),
            payload: isMasked ? maskedByLoop(payload, with: key) : payload,
            isFinal: head[0] & 0x80 != 0,
            reservedBits: head[0] & 0x70
        )
    }

    private static func take(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}
