// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// Why a client's handshake didn't lead to a WebSocket.
///
/// If the server answered, the answer is here: its status, its fields, and up to 64 KiB of its body.
public struct HandshakeError: Error, Sendable, Hashable {
    /// The kinds of failures; later versions may add some.
    @nonexhaustive
    public enum Code: String, Sendable {
        /// What the caller asks for can't be sent: a subprotocol, a field or a key that isn't valid.
        case invalidRequest
        /// The answer isn't an HTTP/1.1 response.
        case malformedResponse
        /// The server answered with another status than 101 (RFC 6455 section 4.1).
        case refused
        /// Upgrade isn't `websocket`, or Connection doesn't name `Upgrade` (RFC 6455 section 4.1, items 2 and 3).
        case notUpgraded
        /// Sec-WebSocket-Accept is missing or doesn't answer the key (RFC 6455 section 4.1, item 4).
        case acceptMismatch
        /// The server uses an extension that wasn't offered (RFC 6455 section 4.1, item 5).
        case unofferedExtension
        /// The server has declined permessage-deflate, and the client does without no connection (RFC 7692 section 5).
        case compressionDeclined
        /// The server has chosen none of the subprotocols, and the client does without no connection (RFC 6455 section 4.1, item 6).
        case subprotocolDeclined
        /// The server chose a subprotocol that wasn't asked for (RFC 6455 section 4.1, item 6).
        case unaskedSubprotocol
        /// A field that comes once is repeated (RFC 6455 section 11.3).
        case repeatedField
        /// The connection was closed before the answer was complete.
        case connectionClosed
    }

    /// The kind of failure.
    public let code: Code
    /// What was seen, in plain words.
    public let message: String
    /// The status that the server answered; nil if no answer came or it wasn't HTTP.
    public let status: HTTPResponse.Status?
    /// The fields of the answer; nil if no answer came or it wasn't HTTP.
    public let headers: HTTPFields?
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
    package init(
        _ code: Code,
        _ message: String,
        response: ResponseHead? = nil,
        body: [UInt8] = [],
        hint: String? = nil
    ) {
        self.code = code
        self.message = message
        self.status = response?.status
        self.headers = response?.headers
        self.body = body
        self.hint = hint
    }

    /// Whether the server redirects, and there is no other reason not to follow than that the caller doesn't want to.
    package var isUnfollowedRedirect: Bool {
        status?.kind == .redirection && hint?.hasPrefix(HandshakeHint.redirects) == true
    }

    /// The same with another hint.
    package func with(hint: String) -> HandshakeError {
        let head = status.map { ResponseHead(status: $0, headers: headers ?? [:]) }
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

/// What the answer to a failed handshake says about its cause.
enum HandshakeHint {
    /// What of a request matters for the hint about its answer.
    struct Sent: Sendable {
        var origin = false
        var credentials = false

        init(_ headers: HTTPFields = [:]) {
            origin = headers.contains(.origin)
            credentials = headers.contains(.authorization)
        }
    }

    /// How the hint about a redirect begins.
    static let redirects = "the server redirects to "

    /// A part of the hint for a refusal of a request without an origin.
    static let noOrigin = "no Origin was sent"

    /// A hint for an answer that was HTTP, but not a 101.
    static func forResponse(_ head: ResponseHead, body: [UInt8] = [], to sent: Sent = Sent()) -> String? {
        switch head.status.code {
        case 400..<500 where speaksOfTLS(body): "the port speaks TLS: use wss"
        case 200..<300:
            "the path is not a WebSocket endpoint: it serves pages, or a proxy on the way dropped the upgrade"
        case 300..<400: redirect(head.headers)
        case 400: "the server, or a proxy on the way, doesn't understand the request for a WebSocket"
        case 401 where sent.credentials:
            "the credentials were refused: the server asks for others" + scheme(head.headers[.wwwAuthenticate])
        case 401: "the server asks for credentials" + scheme(head.headers[.wwwAuthenticate])
        case 403:
            "the server refuses this client: "
                + (sent.origin ? "it may not allow the Origin" : "\(noOrigin), which it may ask for")
                + ", or the credentials lack the right"
        case 404: "there is nothing at this path"
        case 405: "the path is not a WebSocket endpoint: it doesn't serve GET"
        case 407: "the proxy asks for credentials" + scheme(head.headers[.proxyAuthenticate])
        case 426: version(head.headers)
        case 429: "the server asks to try less often" + retry(head.headers)
        case 502, 504: "a proxy answered; the server behind it didn't"
        case 503: "the server is overloaded or down" + retry(head.headers)
        default: nil
        }
    }

    /// Whether that is what servers say to a request without TLS on a port that has it: nginx, Apache, those in Go.
    private static func speaksOfTLS(_ body: [UInt8]) -> Bool {
        let text = String(decoding: body.prefix(1_024), as: UTF8.self).lowercased()
        return ["https port", "https server", "https scheme", "ssl-enabled"].contains { text.contains($0) }
    }

    /// A hint for an answer that wasn't HTTP/1.1, by its first byte: an HTTP response begins with an H.
    static func forFirstByte(_ byte: UInt8) -> String? {
        switch byte {
        // RFC 8446 section 5.1: an alert is a record of type 21, a handshake one of type 22.
        case 0x15, 0x16: "the port speaks TLS: use wss"
        // RFC 9113 section 3.4: a server begins with a SETTINGS frame, whose length has a leading zero byte.
        case 0x00: "the port speaks HTTP/2 without an upgrade, or another binary protocol"
        case UInt8(ascii: "H"): nil
        default: "the port doesn't speak HTTP"
        }
    }

    private static func redirect(_ headers: HTTPFields) -> String? {
        headers[.location].map { "\(redirects)\(Quotation.of($0))" }
    }

    /// The authentication scheme that the server names first (RFC 9110 section 11.3).
    private static func scheme(_ challenge: String?) -> String {
        let name = challenge?.utf8.prefix(while: Grammar.isTokenByte).map(Unicode.Scalar.init)
        guard let name, !name.isEmpty else { return "" }
        var text = ", by the scheme "
        text.unicodeScalars.append(contentsOf: name)
        return text
    }

    private static func version(_ headers: HTTPFields) -> String {
        guard let version = headers[.secWebSocketVersion] else {
            return "the server asks for an upgrade to \(Quotation.of(headers[.upgrade] ?? "another protocol"))"
        }
        return "the server speaks version \(Quotation.of(version)) of the WebSocket protocol; this client speaks 13"
    }

    private static func retry(_ headers: HTTPFields) -> String {
        headers[.retryAfter].map { "; Retry-After is \(Quotation.of($0))" } ?? ""
    }
}
