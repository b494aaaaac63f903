// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
public import DuplexWire

/// Why a topic can't be published to or subscribed to, or why a subscription has ended.
///
/// ``code`` is for programs, ``message`` for people.
public struct TopicError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of fault; an open set.
    public struct Code: ErrorCode {
        /// The code's name.
        public let rawValue: String

        /// Makes a code of that name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The name isn't one of a topic, or the pattern isn't one.
        public static let invalidName = Self(rawValue: "invalidName")
        /// A duration of an option isn't longer than zero.
        public static let invalidArgument = Self(rawValue: "invalidArgument")
        /// A request of the JSON protocol that isn't one.
        public static let invalidRequest = Self(rawValue: "invalidRequest")
        /// The server's answer to a request isn't one of the JSON protocol.
        public static let invalidResponse = Self(rawValue: "invalidResponse")
        /// A limit has been reached.
        public static let limitReached = Self(rawValue: "limitReached")
        /// The app doesn't allow it.
        public static let notAllowed = Self(rawValue: "notAllowed")
        /// The subscriber was too slow, and was ended by its policy.
        public static let slowSubscriber = Self(rawValue: "slowSubscriber")
        /// The connection that was to be subscribed has ended.
        public static let closed = Self(rawValue: "closed")
        /// A URL of a Redis server can't be used.
        public static let invalidURL = Self(rawValue: "invalidURL")
        /// No answer came in time.
        public static let timedOut = Self(rawValue: "timedOut")
        /// The connection was lost before the answer came: the request may have been done or not.
        public static let unanswered = Self(rawValue: "unanswered")
        /// The backplane doesn't support that.
        public static let unsupported = Self(rawValue: "unsupported")
        /// Other machines can't be reached.
        public static let unavailable = Self(rawValue: "unavailable")
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
