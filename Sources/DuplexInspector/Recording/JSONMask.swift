// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

/// Masks the values of named members in JSON that comes in pieces, such as the fragments of a message.
///
/// It reads what it needs of the syntax and nothing more: what is cut, or isn't JSON, goes through it as well.
struct JSONMask: Sendable {
    /// What takes the place of a value.
    static let sign = "[masked]"
    /// How long a name may be in the text; longer ones are no secret's.
    private static let longestName = 1_024

    private let names: Set<String>
    private var state = State.outside
    private var name: [UInt8] = []

    private enum State {
        case outside
        /// In a string that may be a name.
        case string(isEscaped: Bool)
        case behindString
        case beforeValue
        case hiddenString(isEscaped: Bool)
        /// In a number, or a word.
        case hiddenWord
        /// In an object or an array.
        case hidden(depth: Int, inString: Bool, isEscaped: Bool)
    }

    /// Whether there is a name that it masks.
    var masksAnything: Bool { !names.isEmpty }

    /// Masks members of these names, which are in lower case.
    init(_ names: Set<String>) {
        self.names = names
    }

    /// The next piece, masked.
    mutating func mask(_ bytes: [UInt8]) -> [UInt8] {
        if names.isEmpty { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for byte in bytes { take(byte, into: &result) }
        return result
    }

    private mutating func take(_ byte: UInt8, into result: inout [UInt8]) {
        switch state {
        case .outside:
            result.append(byte)
            if byte == UInt8(ascii: "\"") { beginString() }
        case .string(let isEscaped):
            result.append(byte)
            if byte == UInt8(ascii: "\""), !isEscaped {
                state = .behindString
            } else {
                if name.count < Self.longestName { name.append(byte) }
                state = .string(isEscaped: byte == UInt8(ascii: "\\") && !isEscaped)
            }
        case .behindString:
            result.append(byte)
            if Self.isSpace(byte) { return }
            if byte == UInt8(ascii: "\"") { return beginString() }
            state = byte == UInt8(ascii: ":") && isSecret ? .beforeValue : .outside
        case .beforeValue:
            if Self.isSpace(byte) { return result.append(byte) }
            result += Array("\"\(Self.sign)\"".utf8)
            switch byte {
            case UInt8(ascii: "\""): state = .hiddenString(isEscaped: false)
            case UInt8(ascii: "{"), UInt8(ascii: "["): state = .hidden(depth: 1, inString: false, isEscaped: false)
            default: state = .hiddenWord
            }
        case .hiddenString(let isEscaped):
            let ends = byte == UInt8(ascii: "\"") && !isEscaped
            state = ends ? .outside : .hiddenString(isEscaped: byte == UInt8(ascii: "\\") && !isEscaped)
        case .hiddenWord:
            guard Self.isSpace(byte) || ",}]".utf8.contains(byte) else { return }
            result.append(byte)
            state = .outside
        case .hidden(let depth, let inString, let isEscaped): hide(byte, depth, inString, isEscaped)
        }
    }

    private mutating func beginString() {
        name.removeAll(keepingCapacity: true)
        state = .string(isEscaped: false)
    }

    private mutating func hide(_ byte: UInt8, _ depth: Int, _ inString: Bool, _ isEscaped: Bool) {
        var (depth, inString) = (depth, inString)
        switch byte {
        case UInt8(ascii: "\"") where !isEscaped: inString.toggle()
        case UInt8(ascii: "{") where !inString, UInt8(ascii: "[") where !inString: depth += 1
        case UInt8(ascii: "}") where !inString, UInt8(ascii: "]") where !inString: depth -= 1
        default: break
        }
        let escapes = inString && byte == UInt8(ascii: "\\") && !isEscaped
        state = depth == 0 ? .outside : .hidden(depth: depth, inString: inString, isEscaped: escapes)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    private var isSecret: Bool {
        var text = String(decoding: name, as: UTF8.self)
        if name.contains(UInt8(ascii: "\\")) {
            let quoted = Data([0x22] + name + [0x22])
            guard let plain = try? JSONDecoder().decode(String.self, from: quoted) else { return false }
            text = plain
        }
        return names.contains(text.lowercased())
    }
}
