// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A value of JSON (RFC 8259), written without spaces.
package indirect enum JSONText: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A finite number; what isn't one is null.
    case number(Double)
    case string(String)
    case array([JSONText])
    /// In that order.
    case object([Member])
    /// A value that is JSON already: in one line, and without what ``isEscaped(_:)`` finds.
    case encoded(String)

    /// A name and its value.
    package struct Member: Equatable, Sendable {
        package var name: String
        package var value: JSONText

        package init(name: String, value: JSONText) {
            self.name = name
            self.value = value
        }
    }

    /// An object that members are added to.
    package struct Members {
        package private(set) var all: [Member] = []

        package init() {}

        /// Adds a member, if it has a value.
        package mutating func add(_ name: String, _ value: JSONText?) {
            if let value { all.append(Member(name: name, value: value)) }
        }

        package mutating func add(_ name: String, _ text: String?) {
            add(name, text.map { JSONText.string($0) })
        }

        package mutating func add(_ name: String, _ number: Int?) {
            add(name, number.map { JSONText.integer(Int64($0)) })
        }

        package mutating func add(_ name: String, _ number: Double?) {
            add(name, number.map { JSONText.number($0) })
        }

        package mutating func add(_ name: String, _ value: Bool?) {
            add(name, value.map { JSONText.bool($0) })
        }
    }

    /// Its text; in one line, whatever is in its strings.
    package var text: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += value.isFinite ? "\(value)" : "null"
        case .string(let value): Self.write(value, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                Self.write(member.name, to: &text)
                text += ":"
                member.value.write(to: &text)
            }
            text += "}"
        case .encoded(let value): text += value
        }
    }

    /// Whether a scalar is written as a number: control characters, and the line ends of Unicode.
    package static func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar == "\u{2028}" || scalar == "\u{2029}"
    }

    /// Writes such a scalar.
    package static func escape(_ scalar: Unicode.Scalar, to text: inout String) {
        // None of these is beyond 16 bits.
        text += "\\u" + Base16.encode([8, 0].map { UInt8(truncatingIfNeeded: scalar.value >> $0) })
    }

    /// Writes a string with what has to be escaped (section 7): quotation marks, backslashes and control characters.
    ///
    /// So are the line ends of Unicode, which some readers of lines take for such.
    private static func write(_ value: String, to text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where isEscaped(scalar): escape(scalar, to: &text)
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
