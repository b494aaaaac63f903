// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// Somebody who is present in a topic.
public struct PresenceMember: Sendable, Hashable {
    /// Who it is, such as the name of a user; two members with one id count once.
    public var id: String
    /// What the member says of itself: a text, or an object or array of JSON; empty for nothing.
    ///
    /// JSON that nests deeper than 64 levels counts as a text.
    public var info: String

    /// Makes a value.
    public init(id: String, info: String = "") {
        self.id = id
        self.info = info
    }

    /// `{"member":"user-7","info":{…}}`.
    var json: JSONText {
        var members = JSONText.Members()
        members.add("member", id)
        members.add("info", PresenceInfo.value(info))
        return .object(members.all)
    }
}

/// Somebody has joined or left.
public enum PresenceChange: Sendable, Hashable {
    /// Somebody has joined, or has changed their info.
    case joined(PresenceMember)
    /// Somebody has left, with their last connection.
    case left(PresenceMember)

    /// Who it is.
    public var member: PresenceMember {
        switch self {
        case .joined(let member), .left(let member): member
        }
    }
}

/// What a member says of itself, between its text and JSON: an object or an array goes as such, everything else as a string.
///
/// An object or array is checked and copied, not decoded: who sends it decides what is in it, and others are sent it.
enum PresenceInfo {
    /// The text of the value at a place, as `PresenceMember/info` has it; `nil` for a string that is none.
    static func text(_ scanner: JSONScanner, at place: Range<Int>) -> String? {
        let text = scanner.text(at: place)
        return switch text.utf8.first {
        case UInt8(ascii: "\""): scanner.string(at: place)
        case UInt8(ascii: "n"): ""
        default: oneLine(text)
        }
    }

    /// The value in JSON; `nil` for nothing.
    static func value(_ text: String) -> JSONText? {
        if text.isEmpty { return nil }
        guard let first = text.utf8.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            JSONScanner.isValue(text)
        else { return .string(text) }
        return .encoded(oneLine(text))
    }

    /// JSON without the spaces between its parts, and without line ends of Unicode, which some readers of lines take for such.
    private static func oneLine(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        var (isString, isEscaped) = (false, false)
        for scalar in text.unicodeScalars {
            if !isString {
                if scalar == " " || scalar == "\n" || scalar == "\r" || scalar == "\t" { continue }
                isString = scalar == "\""
            } else if isEscaped {
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "\"" {
                isString = false
            } else if JSONText.isEscaped(scalar) {
                JSONText.escape(scalar, to: &result)
                continue
            }
            result.unicodeScalars.append(scalar)
        }
        return result
    }
}
