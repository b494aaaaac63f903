// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
    public var isControl: Bool { rawValue & 0x8 != 0 }

    /// Whether no meaning has been given to this opcode.
    public var isReserved: Bool { !(rawValue <= 0x2 || (0x8...0xA).contains(rawValue)) }
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
