// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import Foundation

/// Values of the app as JSON, over several lines and in the same order each time.
enum AppJSON {
    /// - Parameter value: any value.
    /// - Returns: its JSON.
    /// - Throws: what encoding it throws.
    static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// - Parameter text: JSON.
    /// - Returns: the value.
    /// - Throws: `Problem` with 400, which says what is wrong.
    static func decode<Value: Decodable>(_ text: String) throws -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
        } catch let error as DecodingError {
            throw Problem(.badRequest, "That is no such value: \(Self.description(of: error))")
        }
    }

    private static func description(of error: DecodingError) -> String {
        let context: DecodingError.Context
        switch error {
        case .typeMismatch(_, let found): context = found
        case .valueNotFound(_, let found): context = found
        case .keyNotFound(let key, let found): return "“\(key.stringValue)” is missing\(place(found))."
        case .dataCorrupted(let found): context = found
        @unknown default: return "\(error)"
        }
        return "\(context.debugDescription)\(place(context))"
    }

    private static func place(_ context: DecodingError.Context) -> String {
        let path = context.codingPath.map(\.stringValue).joined(separator: ".")
        return path.isEmpty ? "" : " (at \(path))"
    }
}
