// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// What is wrong with an HTTP message, and the status that a server answers it with.
///
/// ``code`` is for programs, ``message`` for people. The message may quote what the peer sent; control characters in it
/// are escaped and a long quotation is cut, so that it is safe to print and to log.
public struct HTTPProtocolError: Error, Sendable, Hashable {
    /// The kind of fault.
    public let code: Code
    /// What was seen, in plain words.
    public let message: String
    /// The status that a server answers with, such as 400 or 431.
    public let status: HTTPResponse.Status

    /// Makes an error that is answered with the status of its code.
    package init(_ code: Code, _ message: String) {
        self.init(code, message, status: code.status)
    }

    /// Makes an error that is answered with a status of the caller's choice.
    package init(_ code: Code, _ message: String, status: HTTPResponse.Status) {
        self.code = code
        self.message = message
        self.status = status
    }
}

extension HTTPProtocolError: CustomStringConvertible {
    /// The code, the status to answer and the message in one line.
    public var description: String { "HTTPProtocolError.\(code.rawValue) (\(status.code)): \(message)" }
}

extension HTTPProtocolError {
    /// The kinds of faults; later versions may add some.
    @nonexhaustive
    public enum Code: String, Sendable {
        /// The request line isn't `method SP target SP version` (RFC 9112 section 3).
        case malformedRequestLine
        /// The status line isn't `version SP status SP reason` (RFC 9112 section 4).
        case malformedStatusLine
        /// The request target has none of the four forms, or not the one that its method asks for (RFC 9112 section 3.2).
        case badTarget
        /// The version is HTTP, but not HTTP/1 (RFC 9110 section 15.6.6).
        case unsupportedVersion
        /// The method is one that the server doesn't know (RFC 9110 section 15.6.2).
        case unknownMethod
        /// The start line is longer than the limit (RFC 9110 section 15.5.15).
        case uriTooLong
        /// The head is longer than the limit (RFC 6585 section 5).
        case headTooLarge
        /// The head has more fields than the limit (RFC 6585 section 5).
        case tooManyFields
        /// A line begins with a space or a tab, which once continued the line before (RFC 9112 section 5.2).
        case obsoleteLineFolding
        /// A carriage return or a line feed stands alone (RFC 9112 section 2.2).
        case bareLineBreak
        /// A field's name is missing or isn't a token, or white space follows it (RFC 9112 section 5.1).
        case invalidFieldName
        /// A field's value has a control character (RFC 9110 section 5.5).
        case invalidFieldValue
        /// Content-Length is repeated, isn't a number, or stands beside Transfer-Encoding (RFC 9112 section 6.3).
        case conflictingContentLength
        /// Transfer-Encoding isn't the plain `chunked` that every recipient knows (RFC 9112 section 6.1).
        case unsupportedTransferCoding
        /// Host is missing, repeated, or isn't `host[:port]` (RFC 9112 section 3.2).
        case badHost
        /// Expect asks for something else than `100-continue` (RFC 9110 section 10.1.1).
        case unknownExpectation
        /// The body is longer than the limit (RFC 9110 section 15.5.14).
        case bodyTooLarge
        /// A chunk's size line or line end is wrong (RFC 9112 section 7.1).
        case malformedChunk
        /// A body of several parts has a wrong boundary, a malformed head, or no end (RFC 2046 section 5.1).
        case malformedMultipart
        /// The body isn't what its fields say, or can't be read in the form that they name.
        case malformedBody
        /// The body is of a media type, or in a coding, that isn't taken (RFC 9110 section 15.5.16).
        case unsupportedMediaType
        /// The stream ended within a head or a body (RFC 9112 section 8).
        case truncated
        /// The head or the body took longer than the limit (RFC 9110 section 15.5.9).
        case timeout
        /// An app has said something out of turn: a head after the head, a piece of a body after the end.
        case wrongOrder
        /// An app has written more or less of a body than its Content-Length says (RFC 9110 section 8.6).
        case wrongLength
    }
}

extension HTTPProtocolError.Code {
    /// The status that a server answers a fault of this kind with; 400 for all that have no status of their own.
    var status: HTTPResponse.Status {
        switch self {
        case .unsupportedVersion: .httpVersionNotSupported
        case .unknownMethod, .unsupportedTransferCoding: .notImplemented
        case .uriTooLong: .uriTooLong
        case .headTooLarge, .tooManyFields: .requestHeaderFieldsTooLarge
        case .bodyTooLarge: .contentTooLarge
        case .timeout: .requestTimeout
        case .unknownExpectation: .expectationFailed
        case .unsupportedMediaType: .unsupportedMediaType
        case .malformedStatusLine: .badGateway
        case .wrongOrder, .wrongLength: .internalServerError
        default: .badRequest
        }
    }
}
