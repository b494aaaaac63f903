// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import Foundation
import Logging

/// A line of the console: of a stream, or of the log.
struct ConsoleEntry: Sendable {
    /// Where a line came from.
    enum Kind: String, Sendable, CaseIterable {
        /// Standard output.
        case output
        /// Standard error.
        case error
        /// Either of the two, which are the same file: they share a pipe, so that their order is kept.
        case both
        case log
    }

    /// What else the log says.
    struct LogDetails: Sendable {
        var level: Logger.Level
        var label: String
        /// An object; `nil` where there is none.
        var metadata: ConsoleMetadata.Value?
        /// The module that has logged it.
        var source: String
        var file: String
        var line: Int
        var function: String
    }

    /// From 1 on.
    var number: UInt64
    /// Seconds since 1970.
    var time: Double
    var kind: Kind
    var text: String
    /// Whether the line goes on in the next one.
    var isCut = false
    var log: LogDetails?

    /// About how many bytes it has.
    var size: Int {
        let base = 96 + text.utf8.count
        guard let log else { return base }
        return base + 64 + log.label.utf8.count + (log.metadata?.size ?? 0)
    }

    /// The entry as the page gets it.
    struct Shown: Codable, Equatable, Sendable {
        var n: Int
        var time: Double
        var kind: String
        var text: String
        /// Left out if the line is whole.
        var cut: Bool?
        // Of the log.
        var level: String?
        var label: String?
        var metadata: ConsoleMetadata.Value?
        var source: String?
        var place: String?
        var function: String?
    }

    var shown: Shown {
        var shown = Shown(n: Int(clamping: number), time: time, kind: kind.rawValue, text: text)
        if isCut { shown.cut = true }
        if let log {
            shown.level = log.level.rawValue
            shown.label = log.label
            shown.metadata = log.metadata
            shown.source = log.source
            shown.place = "\(log.file):\(log.line)"
            shown.function = log.function
        }
        return shown
    }

    /// The entry as a line of a text file: with its control characters written as signs, as somebody may print it.
    var line: String {
        let date = Date(timeIntervalSince1970: time).formatted(
            Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        )
        var line = "\(date) \(log?.level.rawValue ?? kind.rawValue)"
        if let log { line += " \(log.label):" }
        line += " \(text)"
        if let metadata = log?.metadata, let json = try? CompactJSON.text(of: metadata) { line += " \(json)" }
        return ConsoleText.visible(line)
    }
}

/// Text of others in files.
enum ConsoleText {
    /// The text in one line, with what can't be seen written as signs.
    static func visible(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x09: result.unicodeScalars.append(scalar)
            case 0x00...0x1F: result.unicodeScalars.append(Unicode.Scalar(0x2400 + scalar.value) ?? "?")
            case 0x7F: result += "\u{2421}"
            case 0x80...0x9F, 0x061C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x2069, 0xFEFF:
                result += "⟨U+\(String(scalar.value, radix: 16, uppercase: true))⟩"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// The metadata of the log as values of JSON, taken when it is logged, and bounded.
struct ConsoleMetadata {
    enum Value: Equatable, Sendable {
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
