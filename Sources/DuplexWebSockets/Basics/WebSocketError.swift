// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire
import HTTPTypes

/// Why a connection could not be made, or why it ended.
public struct WebSocketError: Error, Sendable {
    /// The kinds of errors; later versions may add some.
    @nonexhaustive
    public enum Code: String, Sendable {
        /// The text isn't a URL of a WebSocket, or of a kind that isn't supported.
        case invalidURL
        /// The options make a request that may not be sent.
        case invalidRequest
        /// An argument of a call, or an option, is out of range: a duration that isn't longer than zero.
        case invalidArgument
        /// The server couldn't be reached; ``WebSocketError/cause`` says why.
        case cannotConnect
        /// The server answered, but not with a WebSocket; ``WebSocketError/handshake`` has its answer.
        case handshakeRefused
        /// The attempt took longer than its timeout.
        case timedOut
        /// The connection is closed, or being closed; ``WebSocketError/closeReport`` says how.
        case closed
        /// The connection was lost: reset, or ended without a closing handshake.
        case connectionLost
        /// One side broke the protocol or a limit; ``WebSocketError/closeReport`` says which.
        case protocolViolation
        /// A second task receives while one is receiving already.
        case alreadyReceiving
        /// The message isn't read or written any more: it has ended, or another was asked for.
        case messageEnded
        /// What was to be sent as text isn't UTF-8.
        case invalidText
        /// A request has the identity of another that waits for its answer.
        case duplicateRequest
        /// A value can't be sent: its codec doesn't make a message of it; ``WebSocketError/cause`` has the codec's error.
        case encodingFailed
        /// A message has come that its codec doesn't make a value of; ``WebSocketError/undecodable`` has both.
        case decodingFailed
        /// A client that reconnects has no connection at present; it may have one later.
        case notConnected
        /// What the app adds to an attempt of a client that reconnects has failed: its `configure` or its `onOpen`;
        /// ``WebSocketError/cause`` has the error.
        case configurationFailed
        /// The task that waited was cancelled.
        ///
        /// The sequences, such as ``WebSocket/messages``, and what has messages as values throw this, as all of their
        /// errors are of this type; functions such as ``WebSocket/receive()`` throw `CancellationError`. `error.isCancellation`
        /// is true for both.
        case cancelled
        /// Too many unsent messages; see `DelegatedWebSocket.queueLimit` and `DelegatedWebSocket.queueCount`.
        case queueFull
    }

    /// The kind of error, for programs.
    public var code: Code {
        get { content.code }
        set { content.code = newValue }
    }
    /// What happened, for people.
    public var message: String {
        get { content.message }
        set { content.message = newValue }
    }
    /// The error below this one.
    public var cause: (any Error)? {
        get { content.cause }
        set { content.cause = newValue }
    }
    /// How the connection ended, where there was one.
    public var closeReport: CloseReport? {
        get { content.closeReport }
        set { content.closeReport = newValue }
    }
    /// How far the attempt came, and how long its parts took, where connecting failed.
    public var timeline: HandshakeTimeline? {
        get { content.timeline }
        set { content.timeline = newValue }
    }
    /// The server's answer, where it refused the handshake.
    public var handshake: HandshakeError? { cause as? HandshakeError }

    private var storage: Storage

    private struct Content: Sendable {
        var code: Code
        var message: String
        var cause: (any Error)?
        var closeReport: CloseReport?
        var timeline: HandshakeTimeline?
    }

    /// Indirect, because every task that waits in a sequence which throws this type may have to keep room for one of it.
    private indirect enum Storage: Sendable {
        case content(Content)
    }

    private var content: Content {
        get {
            switch storage {
            case .content(let content): content
            }
        }
        set { storage = .content(newValue) }
    }

    /// Makes an error.
    package init(_ code: Code, message: String, cause: (any Error)? = nil, closeReport: CloseReport? = nil) {
        storage = .content(Content(code: code, message: message, cause: cause, closeReport: closeReport))
    }
}

extension WebSocketError: CustomStringConvertible {
    /// What happened and how far the attempt had come, the times of its parts, what the answer says, and a hint, each on
    /// a line of its own.
    public var description: String {
        var lines = ["WebSocketError.\(code): \(message)"]
        if let timeline {
            let sentence = message.hasSuffix(".") ? String(message.dropLast()) : message
            lines = ["WebSocketError.\(code): \(sentence), \(HandshakeTimeline.text(timeline.total)) into the attempt"]
            if !timeline.parts.isEmpty { lines.append(timeline.parts.joined(separator: " · ")) }
        }
        if let handshake, handshake.code == .refused, let status = handshake.status {
            lines += Self.telling(status, handshake.headers ?? [:])
            if !handshake.body.isEmpty { lines.append("body: \(Self.excerpt(handshake.body))") }
            if let hint { lines.append("hint: \(hint)") }
        } else if let cause {
            lines.append(String(describing: cause).replacing("\n", with: "\n  "))
            // An error of the socket's has its hint already.
            if handshake == nil, (cause as? SocketError)?.hint == nil, let hint { lines.append("hint: \(hint)") }
        }
        return lines.joined(separator: "\n  ")
    }

    /// The fields that say most about an answer of that status.
    private static func telling(_ status: HTTPResponse.Status, _ headers: HTTPFields) -> [String] {
        let names: [HTTPField.Name] =
            switch status.code {
            case 401: [.wwwAuthenticate]
            case 407: [.proxyAuthenticate]
            case 300..<400: [.location]
            case 405: [.allow]
            case 426: [.upgrade, .secWebSocketVersion]
            case 429, 503: [.retryAfter]
            default: []
            }
        return names.flatMap { name in
            headers[values: name].map { "\(name.canonicalName): \(excerpt(Array($0.utf8), isQuoted: false))" }
        }
    }

    /// The beginning of what a server sent, fit to be shown: what isn't printable ASCII is a point.
    private static func excerpt(_ bytes: [UInt8], isQuoted: Bool = true) -> String {
        let bound = 120
        var text = ""
        for byte in bytes.prefix(bound) {
            text.unicodeScalars.append(0x20...0x7E ~= byte ? Unicode.Scalar(byte) : "·")
        }
        if bytes.count > bound { text += "…" }
        return isQuoted ? "“\(text)”" : text
    }
}

extension WebSocketError {
    /// What a sequence throws when the wait below it ends with that.
    ///
    /// Kept out of its callers, which end with it.
    init(endOfWait error: any Error) {
        if let error = error as? WebSocketError {
            self = error
        } else if error is CancellationError {
            self.init(.cancelled, message: "The task that waited was cancelled.", cause: error)
        } else {
            self.init(.connectionLost, message: "The connection failed.", cause: error)
        }
    }
}

extension Error {
    /// Whether it says that the task was cancelled: `CancellationError`, as methods throw, or ``WebSocketError/Code/cancelled``, as
    /// sequences do.
    public var isCancellation: Bool {
        self is CancellationError || (self as? WebSocketError)?.code == .cancelled
    }
}

/// An error that may say no more than that its connection has ended, which is the peer's doing and nobody's fault.
package protocol ConnectionEndError: Error {
    var isConnectionEnd: Bool { get }
}

extension WebSocketError: ConnectionEndError {
    package var isConnectionEnd: Bool { closeReport != nil }
}

extension WebSocketError {
    /// Refuses durations that can't be used; see `DurationSetting`.
    ///
    /// - Throws: ``WebSocketError`` with ``WebSocketError/Code/invalidArgument``.
    package static func check(_ durations: [DurationSetting]) throws(WebSocketError) {
        if let fault = durations.fault { throw WebSocketError(.invalidArgument, message: fault) }
    }
}
