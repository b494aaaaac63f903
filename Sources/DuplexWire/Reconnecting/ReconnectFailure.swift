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
        /// What the caller adds to an attempt failed: its configuration, its token, its `onOpen`.
        case configurationFailed
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
    package init(_ kind: Kind, message: String = "", retryAfter: Duration? = nil, cause: (any Error)? = nil) {
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
            case .configurationFailed: "not prepared"
            }
        return message.isEmpty ? what : "\(what): \(message)"
    }
}

/// Which failures are worth another attempt.
public struct ReconnectClassifier: Sendable {
    /// What to do after a failure.
    public enum Verdict: Sendable, Hashable {
        /// Try again, after the policy's delay.
        case retry
        /// Try again, with the next URL: this one has had its attempts in this round.
        case nextURL
        /// Try again, with this URL left out until the budgets are restored; give up if no other URL is left.
        case leaveURL
        /// Give up: another attempt would end the same way, or isn't wanted.
        case stop
    }

    private let judge: @Sendable (ReconnectFailure) -> Verdict

    /// Makes a classifier that decides everything by itself.
    ///
    /// - Parameter judge: what to do after a failure; called on the loop of the client, so it must not block.
    public init(_ judge: @escaping @Sendable (ReconnectFailure) -> Verdict) {
        self.judge = judge
    }

    /// What to do after a failure.
    package func verdict(_ failure: ReconnectFailure) -> Verdict { judge(failure) }

    /// The same, with exceptions.
    ///
    /// - Parameter exception: what to do after a failure; `nil` where this classifier is to decide.
    /// - Returns: a classifier that asks `exception` first.
    public func except(_ exception: @escaping @Sendable (ReconnectFailure) -> Verdict?) -> ReconnectClassifier {
        ReconnectClassifier { [self] failure in exception(failure) ?? verdict(failure) }
    }

    /// Tries again where the network or the server's state is to blame, and gives up where the peers disagree.
    ///
    /// Again: closed with 1001, 1006, 1011 to 1014 or 3008, the statuses 408, 425, 429 and 500 to 599, what the network
    /// does, time-outs, and what the caller adds to an attempt. With the other URLs, and not at all if there are none: every
    /// other status, a certificate that isn't trusted, an answer that isn't WebSocket. Not: every other close code, 1000 and
    /// none at all (1005) among them, and a request that can't be made.
    public static let standard = ReconnectClassifier { failure in
        switch failure.kind {
        case .closed(let code): closed(code)
        case .refused(let status): refused(status)
        case .network, .timedOut, .configurationFailed: .retry
        case .badAnswer, .untrusted: .leaveURL
        case .invalidRequest: .stop
        }
    }

    private static func closed(_ code: CloseCode) -> Verdict {
        switch code.rawValue {
        // 3008 is registered as a time-out.
        case 1_001, 1_006, 1_011...1_014, 3_008: .retry
        default: .stop
        }
    }

    private static func refused(_ status: Int) -> Verdict {
        switch status {
        case 408, 425, 429, 500...599: .retry
        default: .leaveURL
        }
    }
}
