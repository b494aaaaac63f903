// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Logging

/// The metadata of the log as JSON, taken when it is logged, and bounded.
struct ConsoleMetadata {
    /// How many bytes of text an entry's metadata have at most; what is beyond is cut, and said to be.
    static let sizeLimit = 16_384
    /// How deep it goes.
    static let depthLimit = 8

    private var left = sizeLimit

    /// The metadata as an object with sorted names; `nil` for none.
    static func json(_ metadata: Logger.Metadata) -> JSONText? {
        if metadata.isEmpty { return nil }
        var writer = ConsoleMetadata()
        return writer.object(metadata, depth: 0)
    }

    /// About how many bytes it holds.
    static func size(of json: JSONText) -> Int {
        switch json {
        case .string(let text): 16 + text.utf8.count
        case .array(let values): values.reduce(16) { $0 + size(of: $1) }
        case .object(let members): members.reduce(16) { $0 + $1.name.utf8.count + size(of: $1.value) }
        default: 16
        }
    }

    private mutating func object(_ metadata: Logger.Metadata, depth: Int) -> JSONText {
        var members = JSONText.Members()
        for (name, value) in metadata.sorted(by: { $0.key < $1.key }) {
            guard left > 0 else {
                members.add("…", "cut")
                break
            }
            members.add(cut(name), json(value, depth: depth + 1))
        }
        return .object(members.all)
    }

    private mutating func json(_ value: Logger.MetadataValue, depth: Int) -> JSONText {
        if depth > Self.depthLimit { return .string("…") }
        switch value {
        case .string(let text): return .string(cut(text))
        case .stringConvertible(let value): return .string(cut(value.description))
        case .dictionary(let values): return object(values, depth: depth)
        case .array(let values):
            var all: [JSONText] = []
            for value in values {
                if left <= 0 { return .array(all + [.string("…")]) }
                all.append(json(value, depth: depth + 1))
            }
            return .array(all)
        }
    }

    private mutating func cut(_ text: String) -> String {
        let text = InspectorSecret.masked(text)
        let count = text.utf8.count
        // What is empty counts as well, or many of them would be no end.
        defer { left -= count + 4 }
        return count <= left ? text : String(decoding: text.utf8.prefix(max(0, left)), as: UTF8.self) + "…"
    }
}
