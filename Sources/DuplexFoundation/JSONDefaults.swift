// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The encoder and the decoder for JSON where an app gives none: bodies and events of a server, and messages of WebSockets, by
/// `messages(of:)`, `send(json:)` and ``JSONCodec``.
///
/// Dates are texts in ISO 8601, in UTC and whole seconds, such as `2026-11-29T10:00:00Z`. Fractions of a second and offsets
/// from UTC are read as well. All else is as Foundation has it. For other settings start from these:
///
/// ```swift
/// server.use(
///     .json(encoder: {
///         let encoder = JSONDefaults.makeEncoder()
///         encoder.keyEncodingStrategy = .convertToSnakeCase
///         return encoder
///     })
/// )
/// ```
public enum JSONDefaults {
    /// Makes an encoder.
    public static func makeEncoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }

    /// Makes a decoder.
    public static func makeDecoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom(date)
        return decoder
    }

    private static let date: @Sendable (any Decoder) throws -> Date = { decoder in
        let container = try decoder.singleValueContainer()
        if let date = ISO8601Text.date(try container.decode(String.self)) { return date }
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "The date isn't in ISO 8601.")
    }
}

/// Dates as texts (ISO 8601, RFC 3339).
enum ISO8601Text {
    /// Reads a date with its time and its offset from UTC, with a fraction of a second or without.
    ///
    /// - Parameter text: such as `2026-11-29T10:00:00.25+01:00`.
    /// - Returns: the date; nil for another text.
    static func date(_ text: String) -> Date? {
        // Foundation reads past what follows a date.
        guard text.utf8.count <= 40, text.utf8.allSatisfy(isPart) else { return nil }
        return (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
            ?? (try? Date.ISO8601FormatStyle().parse(text))
    }

    /// Reads a day, such as `2026-11-29`, as its first second in UTC.
    static func day(_ text: String) -> Date? {
        guard text.utf8.count == 10, text.utf8.allSatisfy(isPart) else { return nil }
        return try? Date.ISO8601FormatStyle().year().month().day().parse(text)
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: ":"), UInt8(ascii: "."): true
        case UInt8(ascii: "T"), UInt8(ascii: "Z"): true
        default: false
        }
    }
}
