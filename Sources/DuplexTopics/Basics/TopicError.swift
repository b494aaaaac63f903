// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire

/// Why a topic can't be published to or subscribed to, or why a subscription has ended.
///
/// ``code`` is for programs, ``message`` for people.
public struct TopicError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of faults; later versions may add some.
    @nonexhaustive
    public enum Code: String, Sendable {
        /// The name isn't one of a topic, or the pattern isn't one.
        case invalidName
        /// A duration of an option isn't longer than zero.
        case invalidArgument
        /// A request of the JSON protocol that isn't one.
        case invalidRequest
        /// The server's answer to a request isn't one of the JSON protocol.
        case invalidResponse
        /// The server refused a request for a reason that this version has no code for; the message begins with the server's.
        case refused
        /// A limit has been reached.
        case limitReached
        /// The app doesn't allow it.
        case notAllowed
        /// The subscriber was too slow, and was ended by its policy.
        case slowSubscriber
        /// The connection that was to be subscribed has ended.
        case closed
        /// A URL of a Redis server can't be used.
        case invalidURL
        /// No answer came in time.
        case timedOut
        /// The connection was lost before the answer came: the request may have been done or not.
        case unanswered
        /// The backplane doesn't support that.
        case unsupported
        /// Other machines can't be reached.
        case unavailable
    }

    /// The kind of fault.
    public let code: Code
    /// What was seen, in plain words.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message in one line.
    public var description: String { "TopicError.\(code.rawValue): \(message)" }
}

extension TopicError: ConnectionEndError {
    package var isConnectionEnd: Bool { code == .closed }
}

extension TopicError {
    /// Refuses durations that can't be used; see `DurationSetting`.
    ///
    /// - Throws: ``TopicError`` with ``TopicError/Code/invalidArgument``.
    static func check(_ durations: [DurationSetting]) throws(TopicError) {
        if let fault = durations.fault { throw TopicError(.invalidArgument, fault) }
    }

    /// Checks a name or a pattern.
    ///
    /// - Returns: whether it is a pattern.
    static func check(_ name: String) throws(TopicError) -> Bool {
        do { return try TopicName.check(name) } catch { throw TopicError(.invalidName, error.description) }
    }
}
