// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// A coding that a content was put into for its way (RFC 9110 section 8.4.1), of those that this package knows.
public enum ContentCoding: String, Sendable, Hashable, CaseIterable {
    /// gzip (RFC 1952), also as `x-gzip`.
    case gzip
    /// Deflate in the wrapping of zlib (RFC 1950); what comes without it, as some send it, is taken, too.
    case deflate

    /// The most codings of one content that are taken off.
    public static let bound = 2

    /// The codings that are accepted: the value of `Accept-Encoding` in a response (RFC 9110 section 12.5.3).
    public static let accepted = allCases.map(\.rawValue).joined(separator: ", ")

    /// The codings that a content is in, by its `Content-Encoding`.
    ///
    /// `identity`, which is none, is passed over, as are empty members.
    ///
    /// - Parameter fields: the fields of the request.
    /// - Returns: the codings in the order in which they were applied; they are taken off from the last one on.
    /// - Throws: ``HTTPError`` with 415 for a coding that isn't known, for more than ``bound``, and for what is no list.
    public static func applied(in fields: HTTPFields) throws(HTTPError) -> [ContentCoding] {
        var codings: [ContentCoding] = []
        for value in fields[values: .contentEncoding] {
            var scanner = FieldScanner(value)
            scanner.skipCommas()
            while !scanner.isAtEnd {
                let name = scanner.token()
                scanner.skipBlanks()
                guard let name, scanner.isAtEnd || scanner.isAt(",") else { throw unknown(value) }
                scanner.skipCommas()
                if Grammar.matches(name, "identity") { continue }
                guard let coding = ContentCoding(name: name) else { throw unknown(name) }
                guard codings.count < bound else {
                    throw HTTPError(.unsupportedMediaType, "the body is in more than \(bound) codings")
                }
                codings.append(coding)
            }
        }
        return codings
    }

    private init?(name: String) {
        let name = Grammar.lowercased(name)
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
    }

    private static func unknown(_ text: String) -> HTTPError {
        HTTPError(.unsupportedMediaType, "the body is in the coding \(Quotation.of(text)); \(accepted) are taken")
    }
}
