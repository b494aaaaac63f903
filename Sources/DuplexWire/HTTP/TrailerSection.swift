// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

/// The fields behind the last chunk of a body (RFC 9112 section 7.1.2), bounded in their number.
///
/// A field that decides how a message is framed, routed, authenticated or understood comes too late in a trailer:
/// whoever took it up there would read another message than those who acted on the head. It is judged like the others
/// and then dropped (RFC 9110 section 6.5.1).
struct TrailerSection: Sendable {
    private(set) var fields = HTTPFields()
    private var count = 0
    private let bound: Int
    private let unfolds: Bool
    /// Whether the last field was dropped, and what is folded with it.
    private var isDropping = false

    init(limits: HTTPLimits, unfolds: Bool) {
        self.unfolds = unfolds
        // The collection of fields itself has room for fewer than 65,535.
        bound = min(limits.headFields, 65_000)
    }

    /// Takes a line of the section.
    mutating func append(_ line: Span<UInt8>) throws(HTTPError) {
        count += 1
        if count > bound { throw HTTPError(.tooManyFields, "more than \(bound) trailers follow") }
        if unfolds, !line.isEmpty, Grammar.isBlank(line[0]), isDropping || !fields.isEmpty {
            if !isDropping { try FieldLine.unfold(line, into: &fields) }
            return
        }
        let field = try FieldLine.field(line)
        isDropping = !Self.isAllowed(field.name)
        if !isDropping { fields.append(field) }
    }

    /// Whether a field of that name may follow a body.
    static func isAllowed(_ name: HTTPField.Name) -> Bool {
        let name = name.canonicalName
        return !headOnly.contains(name) && !name.hasPrefix("if-") && !name.hasPrefix("sec-")
    }

    /// The fields of framing and of the connection, then of routing, requests, credentials and the content's form.
    private static let headOnly: Set<String> = [
        "content-length", "transfer-encoding", "trailer", "te", "connection", "keep-alive", "proxy-connection",
        "upgrade", "host", "forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "max-forwards",
        "expect", "cache-control", "pragma", "range", "age", "date", "expires", "location", "retry-after", "vary",
        "warning", "authorization", "www-authenticate", "proxy-authorization", "proxy-authenticate", "cookie",
        "set-cookie", "origin", "content-encoding", "content-type", "content-range",
    ]
}
