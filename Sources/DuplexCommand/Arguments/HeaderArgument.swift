// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import HTTPTypes

/// A header field on the command line: `Name: value`.
struct HeaderArgument: ExpressibleByArgument, Sendable {
    let field: HTTPField

    /// Takes a name that is a token, a colon, and a value without control characters (RFC 9110 section 5).
    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":"), let name = HTTPField.Name(String(argument[..<colon])) else {
            return nil
        }
        let value = argument[argument.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        guard HTTPField.isValidValue(String(value)) else { return nil }
        field = HTTPField(name: name, value: String(value))
    }
}
