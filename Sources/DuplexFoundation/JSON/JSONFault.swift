// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What is wrong with received JSON, without its contents.
enum JSONFault {
    static func description(of error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): "the JSON has no \(place(context.codingPath + [key]))"
        case .valueNotFound(_, let context): "the JSON has null at \(place(context.codingPath))"
        case .typeMismatch(_, let context): "the JSON has another type at \(place(context.codingPath))"
        case .dataCorrupted(let context) where context.codingPath.isEmpty: "the body isn't JSON"
        case .dataCorrupted(let context): "the JSON has no such value at \(place(context.codingPath))"
        @unknown default: "the JSON isn't what was expected"
        }
    }

    /// Such as `items.2.name`; keys of dictionaries are the client's, and cut.
    private static func place(_ path: [any CodingKey]) -> String {
        if path.isEmpty { return "its top" }
        let names = path.prefix(16).map { $0.intValue.map(String.init) ?? plain($0.stringValue) }
        return names.joined(separator: ".")
    }

    private static func plain(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(64).map { $0.value < 0x20 || $0.value == 0x7F ? "_" : $0 }
            )
        )
    }
}
