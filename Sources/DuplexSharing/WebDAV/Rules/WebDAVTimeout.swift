// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// How long a lock is to hold: the field `Timeout` (RFC 4918 section 10.7).
struct WebDAVTimeout: Sendable, Hashable {
    /// The number of seconds; nil for as long as the server likes.
    let seconds: Int64?

    /// The first of the field's wishes that can be read; none without the field.
    init(_ fields: HTTPFields) {
        let wishes = fields[values: .timeout].flatMap(Grammar.list)
        seconds = wishes.lazy.compactMap(Self.wish).first ?? nil
    }

    /// Nil for what isn't a wish, and a nil within for no bound.
    private static func wish(_ text: Substring) -> Int64?? {
        if Grammar.matches(text, "Infinite") { return .some(nil) }
        let name = "Second-"
        guard Grammar.matches(text.prefix(name.count), name) else { return nil }
        let digits = text.dropFirst(name.count).utf8
        guard !digits.isEmpty, digits.allSatisfy(Grammar.isDigit) else { return nil }
        return Grammar.decimal(digits).map(Int64.init) ?? .max
    }

    /// For how long it is granted: at least a second, and no longer than the bound.
    func granted(upTo bound: Int64) -> Int64 {
        max(1, min(seconds ?? bound, bound))
    }
}
