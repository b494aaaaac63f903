// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// JSON as Duplex itself answers with: in one line, and the members of each object in the order of their names.
package enum CompactJSON {
    /// Encodes a value.
    ///
    /// - Parameter value: the value. Hazard: a number in it that isn't finite can't be encoded.
    /// - Returns: the JSON.
    /// - Throws: `EncodingError`.
    package static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - text: the JSON.
    /// - Returns: the value.
    /// - Throws: `DecodingError`.
    package static func value<Value: Decodable>(_ type: Value.Type = Value.self, of text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
