// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexBase

/// Why the test of a server or a socket failed beside what the test itself found.
public struct TestingError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; an open set.
    public struct Code: ErrorCode {
        /// The code's name.
        public let rawValue: String

        /// Makes a code of that name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The test took longer than it may, of the machine's time.
        public static let outOfTime = Self(rawValue: "outOfTime")
        /// Handlers go on although the server has ended and they were cancelled.
        public static let handlersLeft = Self(rawValue: "handlersLeft")
        /// The time that the test may take isn't longer than zero.
        public static let invalidArgument = Self(rawValue: "invalidArgument")
        /// A ``ScriptedPeer`` received something else than was expected, or nothing in time.
        public static let unexpected = Self(rawValue: "unexpected")
    }

    /// The kind of failure.
    public let code: Code
    /// What happened, in plain words.
    public let message: String
    /// The routes whose handlers were at work, once for each handler, such as `GET /slow` or `WebSocket /chat`.
    public let routes: [String]

    /// What happened, and which handlers were at work.
    public var description: String {
        message + (routes.isEmpty ? "" : " Handlers at work: \(routes.joined(separator: ", ")).")
    }

    /// Refuses durations that can't be used.
    static func check(_ durations: [DurationSetting]) throws(TestingError) {
        guard let fault = durations.fault else { return }
        throw TestingError(code: .invalidArgument, message: fault, routes: [])
    }

    static func outOfTime(_ limit: Duration, after elapsed: Duration, _ routes: [String]) -> TestingError {
        TestingError(
            code: .outOfTime,
            message: """
                The test took longer than \(limit.rounded), and its connections were reset. Its clock was at \
                \(elapsed.rounded): what waits for time needs it to be moved.
                """,
            routes: routes
        )
    }

    static func unexpected(_ expected: String, got: String) -> TestingError {
        TestingError(code: .unexpected, message: "The peer expected \(expected) and got \(got).", routes: [])
    }

    static func handlersLeft(_ routes: [String]) -> TestingError {
        TestingError(
            code: .handlersLeft,
            message: "The server has ended, and handlers go on although they were cancelled.",
            routes: routes
        )
    }
}
