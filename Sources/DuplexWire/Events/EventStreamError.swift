// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What is wrong with a server-sent event, or with a stream of them.
///
/// ``code`` is for programs, ``message`` for people.
public struct EventStreamError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of fault; an open set.
    public struct Code: ErrorCode {
        /// The code's name.
        public let rawValue: String

        /// Makes a code of that name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A field would break out of its line: it has a line end, or U+0000.
        public static let invalidField = Self(rawValue: "invalidField")
        /// A line of a stream is longer than the limit.
        public static let lineTooLong = Self(rawValue: "lineTooLong")
        /// An event of a stream has more data than the limit.
        public static let eventTooLong = Self(rawValue: "eventTooLong")
        /// The reader takes less than is sent, and was ended by its ``SlowReaderPolicy``.
        public static let slowReader = Self(rawValue: "slowReader")
        /// The feed takes no further event.
        public static let finished = Self(rawValue: "finished")
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
    public var description: String { "EventStreamError.\(code.rawValue): \(message)" }
}
