// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A whole message (RFC 6455 section 5.6).
public enum Message: Sendable, Hashable {
    /// Text in UTF-8.
    case text(String)
    /// Bytes.
    case binary([UInt8])

    /// Whether a message is text or bytes.
    public enum Kind: Sendable, Hashable {
        /// Text in UTF-8.
        case text
        /// Bytes.
        case binary
    }

    /// Whether the message is text or bytes.
    public var kind: Kind {
        switch self {
        case .text: .text
        case .binary: .binary
        }
    }

    /// The length of the payload in bytes.
    @inlinable
    public var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}

extension Message: ExpressibleByStringLiteral {
    /// Makes a value of a literal.
    public init(stringLiteral value: String) {
        self = .text(value)
    }
}

extension Message: CustomStringConvertible {
    /// The text itself, or the number of bytes and the first of them in hexadecimal.
    public var description: String {
        switch self {
        case .text(let text): return text
        case .binary(let bytes):
            let digits = Base16.encode(bytes.prefix(32), separator: " ")
            return "\(bytes.count) bytes: \(digits)\(bytes.count > 32 ? " …" : "")"
        }
    }
}

extension Message.Kind {
    /// The opcode of a frame that begins such a message.
    var opcode: Opcode {
        self == .text ? .text : .binary
    }
}
