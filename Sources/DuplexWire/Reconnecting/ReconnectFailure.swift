// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Why an attempt to connect failed, or why a connection ended, in the words that a retry is decided by.
public struct ReconnectFailure: Error, Sendable, Hashable {
    /// The kinds of failure.
    public enum Kind: Sendable, Hashable {
        /// The connection was open and was closed with this code; with 1006 it was lost.
        case closed(CloseCode)
        /// The server, or a proxy, answered with this status instead of opening a WebSocket.
        case refused(status: Int)
        /// What answered doesn't speak WebSocket as RFC 6455 has it.
        case badAnswer
        /// A name had no address, nothing could be reached, or the network lost the attempt.
        case network
        /// The attempt took longer than it was given.
        case timedOut
        /// The server's certificate isn't trusted.
        case untrusted
        /// The URL can't be read, or the options make a request that may not be sent.
        case invalidRequest
        /// What the caller adds to an attempt failed: its configuration, its token, its preamble.
        case unprepared
    }

    /// What happened, for programs.
    public var kind: Kind
    /// What happened, for people; empty where the kind says it all.
    public var message: String
    /// How long the server asked to be left alone (RFC 9110 section 10.2.3); `nil` if it didn't.
    public var retryAfter: Duration?
    /// The error below it, as it was thrown; `nil` if there is none.
    ///
    /// A client's is its room's error, with the timeline of an attempt or the report of a connection, or what the caller's own
    /// code threw. It doesn't count when failures are compared: errors can't be.
    public var cause: (any Error)?

    /// Makes a failure.
    ///
    /// - Parameters:
    ///   - kind: what happened, for programs.
    ///   - message: what happened, for people.
    ///   - retryAfter: how long the server asked to be left alone.
    ///   - cause: the error below it. Default: none.
    public init(_ kind: Kind, message: String = "", retryAfter: Duration? = nil, cause: (any Error)? = nil) {
        self.kind = kind
        self.message = message
        self.retryAfter = retryAfter
        self.cause = cause
    }

    /// Compares all but the causes.
    public static func == (one: ReconnectFailure, other: ReconnectFailure) -> Bool {
        one.kind == other.kind && one.message == other.message && one.retryAfter == other.retryAfter
    }

    /// Hashes all but the cause.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(message)
        hasher.combine(retryAfter)
    }
}

extension ReconnectFailure: CustomStringConvertible {
    /// The kind, and the message where there is one.
    public var description: String {
        let what =
            switch kind {
            case .closed(.abnormalClosure): "lost"
            case .closed(let code): "closed \(code)"
            case .refused(let status): "refused with \(status)"
            case .badAnswer: "not a WebSocket"
            case .network: "not reached"
            case .timedOut: "timed out"
            case .untrusted: "certificate not trusted"
            case .invalidRequest: "invalid request"
            case .unprepared: "not prepared"
            }
        return message.isEmpty ? what : "\(what): \(message)"
    }
}
