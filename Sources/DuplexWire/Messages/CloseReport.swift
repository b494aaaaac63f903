// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How a connection ended, or how far its end has come.
public struct CloseReport: Sendable, Equatable {
    /// One end of the connection.
    public enum Side: Sendable, Hashable {
        /// This one.
        case local
        /// The peer.
        case remote
    }

    /// The close frame that this side sent.
    public internal(set) var sent: CloseFrame? {
        get { content.sent }
        set { content.sent = newValue }
    }
    /// The close frame that the peer sent.
    public internal(set) var received: CloseFrame? {
        get { content.received }
        set { content.received = newValue }
    }
    /// Who began to close; `nil` while nobody has.
    public internal(set) var initiator: Side? {
        get { content.initiator }
        set { content.initiator = newValue }
    }
    /// What made this side fail the connection (RFC 6455 section 7.1.7).
    public internal(set) var error: WebSocketProtocolError? {
        get { content.error }
        set { content.error = newValue }
    }

    /// Whether this side ended the connection at once, without waiting for a closing handshake.
    public internal(set) var wasReset: Bool {
        get { content.wasReset }
        set { content.wasReset = newValue }
    }

    private var storage = Storage.nothing

    private struct Content: Sendable, Equatable {
        var sent: CloseFrame?
        var received: CloseFrame?
        var initiator: Side?
        var error: WebSocketProtocolError?
        var wasReset = false
    }

    /// Indirect, so that a connection which isn't ending pays one word for its report, as does every error and every
    /// frame of an `async` function that carries one.
    private indirect enum Storage: Sendable, Equatable {
        case nothing
        case content(Content)
    }

    private var content: Content {
        get {
            switch storage {
            case .nothing: Content()
            case .content(let content): content
            }
        }
        set { storage = .content(newValue) }
    }

    /// Whether both close frames were exchanged (RFC 6455 section 7.1.4).
    public var isClean: Bool { sent != nil && received != nil }

    /// The code that describes the end: the one of whoever began; 1005 when it had none, 1006 when the connection ended
    /// without the peer's close frame (RFC 6455 section 7.1.5).
    public var code: CloseCode {
        guard let received else { return .abnormalClosure }
        return (initiator == .local ? sent : received)?.code ?? .noStatusReceived
    }
}

extension CloseReport: CustomStringConvertible {
    /// What it is, for people.
    public var description: String {
        if let error {
            return "failed by \(error.blame == .remote ? "the peer's fault" : "this side"): \(error.message)"
        }
        if wasReset {
            return switch (sent, received) {
            case (let sent?, _): "closed by this side with \(sent), and reset before the peer's answer"
            case (nil, let received?): "closed by the peer with \(received), and reset by this side"
            case (nil, nil): "reset by this side, without a closing handshake (1006)"
            }
        }
        switch initiator {
        case .local: return "closed by this side with \(Self.text(sent)); the peer answered \(Self.text(received))"
        case .remote: return "closed by the peer with \(Self.text(received))"
        case nil: return "no closing handshake (1006)"
        }
    }

    private static func text(_ frame: CloseFrame?) -> String {
        frame?.description ?? "nothing"
    }
}
