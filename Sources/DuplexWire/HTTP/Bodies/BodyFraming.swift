// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

/// How the end of a message's body is found (RFC 9112 section 6).
public enum BodyFraming: Sendable, Hashable {
    /// There is no body.
    case none
    /// The body has that many bytes.
    case length(Int)
    /// The body comes in chunks, the last of which is empty.
    case chunked
    /// The body of a response ends where the connection does.
    case untilClose

    /// The framing of a request's body (RFC 9112 section 6.3).
    ///
    /// - Throws: What makes the length doubtful. Two recipients that read it differently can be made to see two
    ///   different requests, so nothing is mended here (RFC 9112 section 11.2).
    init(requestHeaders headers: HTTPFields, version: HTTPVersion) throws(HTTPProtocolError) {
        if headers.contains(.transferEncoding) {
            try Self.checkChunked(headers, version: version)
            self = .chunked
        } else if let length = try Self.contentLength(headers) {
            self = length == 0 ? .none : .length(length)
        } else {
            self = .none
        }
    }

    /// The framing of a response's body, which also hangs on the request that it answers (RFC 9112 section 6.3).
    init(
        responseHeaders headers: HTTPFields,
        status: HTTPResponse.Status,
        version: HTTPVersion,
        answering method: HTTPRequest.Method
    ) throws(HTTPProtocolError) {
        let isBodiless = status.kind == .informational || status == .noContent || status == .notModified
        if isBodiless || method == .head || (method == .connect && status.kind == .successful) {
            self = .none
        } else if headers.contains(.transferEncoding) {
            try Self.checkChunked(headers, version: version)
            self = .chunked
        } else if let length = try Self.contentLength(headers) {
            self = length == 0 ? .none : .length(length)
        } else {
            self = .untilClose
        }
    }

    private static func checkChunked(_ headers: HTTPFields, version: HTTPVersion) throws(HTTPProtocolError) {
        // RFC 9112 section 6.1: whoever sends both may be smuggling, and HTTP/1.0 has no transfer codings.
        if headers.contains(.contentLength) {
            throw HTTPProtocolError(.conflictingContentLength, "both Content-Length and Transfer-Encoding are given")
        }
        let values = headers[values: .transferEncoding]
        if version < .http11 {
            throw HTTPProtocolError(
                .unsupportedTransferCoding,
                "Transfer-Encoding in an \(version) message",
                status: .badRequest
            )
        }
        // Not even another spelling of the same list is taken: where a recipient in front of this one reads an empty
        // member or a second field otherwise, the two see different requests (RFC 9112 section 11.2).
        if values.count == 1, Grammar.matches(values[0], "chunked") { return }
        throw unsupported(values.joined(separator: ","))
    }

    private static func unsupported(_ value: String) -> HTTPProtocolError {
        let codings = Grammar.list(value)
        // RFC 9112 section 6.3: a request in which chunked isn't last, comes twice, or is spelled as no sender would,
        // has no length that can be relied on, and must be answered with 400. Under chunks, a coding that isn't known
        // is another matter (section 6.1).
        let chunks = codings.count { Grammar.matches($0, "chunked") }
        let isLast = codings.last.map { Grammar.matches($0, "chunked") } ?? false
        let isUnknown = chunks == 1 && isLast && codings.count > 1
        return HTTPProtocolError(
            .unsupportedTransferCoding,
            "Transfer-Encoding is \(Quotation.of(value)); only a single chunked is understood",
            status: isUnknown ? .notImplemented : .badRequest
        )
    }

    private static func contentLength(_ headers: HTTPFields) throws(HTTPProtocolError) -> Int? {
        guard headers.contains(.contentLength) else { return nil }
        let values = headers[values: .contentLength]
        guard values.count == 1 else {
            throw HTTPProtocolError(.conflictingContentLength, "Content-Length is given \(values.count) times")
        }
        guard let length = Grammar.decimal(values[0].utf8) else {
            throw HTTPProtocolError(
                .conflictingContentLength,
                "Content-Length is \(Quotation.of(values[0])), not a number of bytes"
            )
        }
        return length
    }
}
