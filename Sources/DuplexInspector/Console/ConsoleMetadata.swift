// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Logging

/// The metadata of the log as values of JSON, taken when it is logged, and bounded.
struct ConsoleMetadata {
    indirect enum Value: Equatable, Sendable {
        case text(String)
        case list([Value])
        case object([String: Value])
    }

    /// How many bytes of text an entry's metadata have at most; what is beyond is cut, and said to be.
    static let sizeLimit = 16_384
    /// How deep it goes.
    static let depthLimit = 8

    private var left = sizeLimit

    /// The metadata as an object; `nil` for none.
    static func value(of metadata: Logger.Metadata) -> Value? {
        if metadata.isEmpty { return nil }
        var writer = ConsoleMetadata()
        return writer.object(metadata, depth: 0)
    }

    private mutating func object(_ metadata: Logger.Metadata, depth: Int) -> Value {
        var members: [String: Value] = [:]
        for (name, value) in metadata.sorted(by: { $0.key < $1.key }) {
            guard left > 0 else {
                members["…"] = .text("cut")
                break
            }
            members[cut(name)] = self.value(of: value, depth: depth + 1)
        }
        return .object(members)
    }

    private mutating func value(of value: Logger.MetadataValue, depth: Int) -> Value {
        if depth > Self.depthLimit { return .text("…") }
        switch value {
        case .string(let text): return .text(cut(text))
        case .stringConvertible(let value): return .text(cut(value.description))
        case .dictionary(let values): return object(values, depth: depth)
        case .array(let values):
            var all: [Value] = []
            for value in values {
                if left <= 0 { return .list(all + [.text("…")]) }
                all.append(self.value(of: value, depth: depth + 1))
            }
            return .list(all)
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

extension ConsoleMetadata.Value {
    /// About how many bytes it holds.
    var size: Int {
        switch self {
        case .text(let text): 16 + text.utf8.count
        case .list(let values): values.reduce(16) { $0 + $1.size }
        case .object(let members): members.reduce(16) { $0 + $1.key.utf8.count + $1.value.size }
        }
    }
}

extension ConsoleMetadata.Value: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let values = try? container.decode([Self].self) {
            self = .list(values)
        } else {
            self = .object(try container.decode([String: Self].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .list(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }
}
