// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a member says of itself, between its text and JSON: an object or an array goes as such, everything else as a string.
struct PresenceInfo: Decodable, Sendable, Hashable {
    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// As PresenceMember/info has it.
    let text: String

    init(from decoder: any Decoder) throws {
        switch try Self.value(decoder) {
        case .null: text = ""
        case .string(let string): text = string
        case let value: text = value.text
        }
    }

    /// The value in JSON; `nil` for nothing.
    static func value(_ text: String) -> JSONText? {
        if text.isEmpty { return nil }
        guard let first = text.utf8.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            let tree = try? JSONDecoder().decode(Tree.self, from: Data(text.utf8))
        else { return .string(text) }
        return tree.value
    }

    /// Any value of JSON.
    private struct Tree: Decodable {
        let value: JSONText

        init(from decoder: any Decoder) throws { value = try PresenceInfo.value(decoder) }
    }

    private static func value(_ decoder: any Decoder) throws -> JSONText {
        if let object = try? decoder.container(keyedBy: Key.self) {
            // Sorted, as the decoder doesn't keep their order: equal infos are equal texts.
            return .object(
                try object.allKeys.sorted { $0.stringValue < $1.stringValue }.map { key in
                    JSONText.Member(name: key.stringValue, value: try object.decode(Tree.self, forKey: key).value)
                }
            )
        }
        if var array = try? decoder.unkeyedContainer() {
            var values: [JSONText] = []
            while !array.isAtEnd { values.append(try array.decode(Tree.self).value) }
            return .array(values)
        }
        let value = try decoder.singleValueContainer()
        if value.decodeNil() { return .null }
        if let bool = try? value.decode(Bool.self) { return .bool(bool) }
        if let integer = try? value.decode(Int64.self) { return .integer(integer) }
        if let number = try? value.decode(Double.self) { return .number(number) }
        return .string(try value.decode(String.self))
    }
}

extension PresenceMember {
    /// `{"member":"user-7","info":{…}}`.
    var json: JSONText {
        var members = JSONText.Members()
        members.add("member", id)
        members.add("info", PresenceInfo.value(info))
        return .object(members.all)
    }
}
