// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

/// A value in an object that a command has printed.
enum JSONScalar: Decodable, Equatable {
    case text(String)
    case number(Double)
    case flag(Bool)
    case other

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else {
            self = .other
        }
    }

    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The objects of an output, one on each line.
    static func lines(_ output: String) throws -> [[String: JSONScalar]] {
        try output.split(separator: "\n").map { line in
            try JSONDecoder().decode([String: JSONScalar].self, from: Data(line.utf8))
        }
    }
}
