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
    public init(_ code: Code, _ message: String) {
        self.init(code, message, status: code.status)
    }

    /// Makes an error that is answered with a status of the caller's choice.
    public init(_ code: Code, _ message: String, status: HTTPResponse.Status) {
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
    /// The kind of fault; an open set, to which later versions may add.
    public struct Code: ErrorCode {
        /// The code's name, such as `headTooLarge`.
        public let rawValue: String

        /// Makes a code of that name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }
}

extension HTTPProtocolError.Code {
    /// The request line isn't `method SP target SP version` (RFC 9112 section 3).
    public static let malformedRequestLine = Self(rawValue: "malformedRequestLine")
    /// The status line isn't `version SP status SP reason` (RFC 9112 section 4).
    public static let malformedStatusLine = Self(rawValue: "malformedStatusLine")
    /// The request target has none of the four forms, or not the one that its method asks for (RFC 9112 section 3.2).
    public static let badTarget = Self(rawValue: "badTarget")
    /// The version is HTTP, but not HTTP/1 (RFC 9110 section 15.6.6).
    public static let unsupportedVersion = Self(rawValue: "unsupportedVersion")
    /// The method is one that the server doesn't know (RFC 9110 section 15.6.2).
    public static let unknownMethod = Self(rawValue: "unknownMethod")
    /// The start line is longer than the limit (RFC 9110 section 15.5.15).
    public static let uriTooLong = Self(rawValue: "uriTooLong")
    /// The head is longer than the limit (RFC 6585 section 5).
    public static let headTooLarge = Self(rawValue: "headTooLarge")
    /// The head has more fields than the limit (RFC 6585 section 5).
    public static let tooManyFields = Self(rawValue: "tooManyFields")
    /// A line begins with a space or a tab, which once continued the line before (RFC 9112 section 5.2).
    public static let obsoleteLineFolding = Self(rawValue: "obsoleteLineFolding")
    /// A carriage return or a line feed stands alone (RFC 9112 section 2.2).
    public static let bareLineBreak = Self(rawValue: "bareLineBreak")
    /// A field's name is missing or isn't a token, or white space follows it (RFC 9112 section 5.1).
    public static let invalidFieldName = Self(rawValue: "invalidFieldName")
    /// A field's value has a control character (RFC 9110 section 5.5).
    public static let invalidFieldValue = Self(rawValue: "invalidFieldValue")
    /// Content-Length is repeated, isn't a number, or stands beside Transfer-Encoding (RFC 9112 section 6.3).
    public static let conflictingContentLength = Self(rawValue: "conflictingContentLength")
    /// Transfer-Encoding isn't the plain `chunked` that every recipient knows (RFC 9112 section 6.1).
    public static let unsupportedTransferCoding = Self(rawValue: "unsupportedTransferCoding")
    /// Host is missing, repeated, or isn't `host[:port]` (RFC 9112 section 3.2).
    public static let badHost = Self(rawValue: "badHost")
    /// Expect asks for something else than `100-continue` (RFC 9110 section 10.1.1).
    public static let unknownExpectation = Self(rawValue: "unknownExpectation")
    /// The body is longer than the limit (RFC 9110 section 15.5.14).
    public static let bodyTooLarge = Self(rawValue: "bodyTooLarge")
    /// A chunk's size line or line end is wrong (RFC 9112 section 7.1).
    public static let malformedChunk = Self(rawValue: "malformedChunk")
    /// A body of several parts has a wrong boundary, a malformed head, or no end (RFC 2046 section 5.1).
    public static let malformedMultipart = Self(rawValue: "malformedMultipart")
    /// The body isn't what its fields say, or can't be read in the form that they name.
    public static let malformedBody = Self(rawValue: "malformedBody")
    /// The body is of a media type, or in a coding, that isn't taken (RFC 9110 section 15.5.16).
    public static let unsupportedMediaType = Self(rawValue: "unsupportedMediaType")
    /// The stream ended within a head or a body (RFC 9112 section 8).
    public static let truncated = Self(rawValue: "truncated")
    /// The head or the body took longer than the limit (RFC 9110 section 15.5.9).
    public static let timeout = Self(rawValue: "timeout")
    /// An app has said something out of turn: a head after the head, a piece of a body after the end.
    public static let wrongOrder = Self(rawValue: "wrongOrder")
    /// An app has written more or less of a body than its Content-Length says (RFC 9110 section 8.6).
    public static let wrongLength = Self(rawValue: "wrongLength")

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
