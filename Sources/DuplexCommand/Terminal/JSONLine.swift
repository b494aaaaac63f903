// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Foundation

/// Values as JSON, one object on each line: for programs.
enum JSONLine {
    /// The object; what a terminal might obey stands in it as an escape.
    ///
    /// - Throws: `EncodingError` for a number that isn't finite.
    static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        guard text.unicodeScalars.contains(where: String.isDangerous) else { return text }
        return text.unicodeScalars.map { String.isDangerous($0) ? escape($0) : String($0) }.joined()
    }

    /// The code units of UTF-16 (RFC 8259 section 7).
    private static func escape(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}

/// Why a command ended without success, as one object.
struct FailureForm: Encodable {
    /// `error` where others of the command's objects are events.
    var event: String?
    let url: String
    let error: String
    let status: Int32

    init(_ failure: Failure, url: String, event: String? = nil) {
        (self.url, self.event) = (url, event)
        error = failure.message
        status = failure.status.rawValue
    }
}

extension Console {
    /// Prints a value as one line of JSON on standard output.
    ///
    /// - Throws: as ``JSONLine/text(of:)``.
    func print(json value: some Encodable) throws {
        print(try JSONLine.text(of: value))
    }
}

extension Duration {
    /// The milliseconds as a number, exact to a microsecond.
    var milliseconds: Double {
        (Double(wholeNanoseconds) / 1e3).rounded() / 1e3
    }
}
