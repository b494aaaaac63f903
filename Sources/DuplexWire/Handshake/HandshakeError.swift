// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// Why a client's handshake didn't lead to a WebSocket.
///
/// If the server answered, the answer is here: its status, its fields, and up to 64 KiB of its body.
public struct HandshakeError: Error, Sendable, Hashable {
    /// The kind of failure; an open set, to which later versions may add.
    public struct Code: ErrorCode {
        /// The code's name, such as `refused`.
        public let rawValue: String

        /// Makes a code of that name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    /// The kind of failure.
    public let code: Code
    /// What was seen, in plain words.
    public let message: String
    /// The status that the server answered; nil if no answer came or it wasn't HTTP.
    public let status: HTTPResponse.Status?
    /// The fields of the answer; nil if no answer came or it wasn't HTTP.
    public let fields: HTTPFields?
    /// The first 64 KiB of the answer's body; empty if there was none.
    public let body: [UInt8]
    /// What to try next, in plain words; nil if the answer gives no clue.
    public let hint: String?

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What was seen.
    ///   - response: The head of the answer, if there is one.
    ///   - body: What has arrived of the answer's body.
    ///   - hint: What to try next.
    public init(
        _ code: Code,
        _ message: String,
        response: ResponseHead? = nil,
        body: [UInt8] = [],
        hint: String? = nil
    ) {
        self.code = code
        self.message = message
        self.status = response?.status
        self.fields = response?.fields
        self.body = body
        self.hint = hint
    }
}

extension HandshakeError.Code {
    /// What the caller asks for can't be sent: a subprotocol, a field or a key that isn't valid.
    public static let invalidRequest = Self(rawValue: "invalidRequest")
    /// The answer isn't an HTTP/1.1 response.
    public static let malformedResponse = Self(rawValue: "malformedResponse")
    /// The server answered with another status than 101 (RFC 6455 section 4.1).
    public static let refused = Self(rawValue: "refused")
    /// Upgrade isn't `websocket`, or Connection doesn't name `Upgrade` (RFC 6455 section 4.1, items 2 and 3).
    public static let notUpgraded = Self(rawValue: "notUpgraded")
    /// Sec-WebSocket-Accept is missing or doesn't answer the key (RFC 6455 section 4.1, item 4).
    public static let acceptMismatch = Self(rawValue: "acceptMismatch")
    /// The server uses an extension that wasn't offered (RFC 6455 section 4.1, item 5).
    public static let unofferedExtension = Self(rawValue: "unofferedExtension")
    /// The server has declined permessage-deflate, and the client does without no connection (RFC 7692 section 5).
    public static let compressionDeclined = Self(rawValue: "compressionDeclined")
    /// The server has chosen none of the subprotocols, and the client does without no connection (RFC 6455 section 4.1, item 6).
    public static let subprotocolDeclined = Self(rawValue: "subprotocolDeclined")
    /// The server chose a subprotocol that wasn't asked for (RFC 6455 section 4.1, item 6).
    public static let unaskedSubprotocol = Self(rawValue: "unaskedSubprotocol")
    /// A field that comes once is repeated (RFC 6455 section 11.3).
    public static let repeatedField = Self(rawValue: "repeatedField")
    /// The connection was closed before the answer was complete.
    public static let connectionClosed = Self(rawValue: "connectionClosed")
}

extension HandshakeError {
    /// Whether the server redirects, and there is no other reason not to follow than that the caller doesn't want to.
    package var isUnfollowedRedirect: Bool {
        status?.kind == .redirection && hint?.hasPrefix(HandshakeHint.redirects) == true
    }

    /// The same with another hint.
    package func with(hint: String) -> HandshakeError {
        let head = status.map { ResponseHead(status: $0, fields: fields ?? [:]) }
        return HandshakeError(code, message, response: head, body: body, hint: hint)
    }

    /// Whether the server has refused with 403 a request that had no origin.
    package var isOfMissingOrigin: Bool { status == .forbidden && hint?.contains(HandshakeHint.noOrigin) == true }
}

extension HandshakeError: CustomStringConvertible {
    /// The code and the message, and in lines of their own the beginning of the body and the hint.
    public var description: String {
        var text = "HandshakeError.\(code.rawValue): \(message)"
        if !body.isEmpty { text += "\n  body: \(Quotation.of(body.span))" }
        if let hint { text += "\n  hint: \(hint)" }
        return text
    }
}
