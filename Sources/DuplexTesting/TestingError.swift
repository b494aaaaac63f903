// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase

/// Why the test of a server or a socket failed beside what the test itself found.
public struct TestingError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failures; later versions may add some.
    @nonexhaustive
    public enum Code: String, Sendable {
        /// The test took longer than it may, of the machine's time.
        case outOfTime
        /// Handlers go on although the server has ended and they were cancelled.
        case handlersLeft
        /// A response's body isn't the value that the test decodes.
        case undecodable
        /// The time that the test may take isn't longer than zero.
        case invalidArgument
        /// A ``ScriptedPeer`` received something else than was expected, or nothing in time.
        case unexpected
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

    static func undecodable(_ type: String, _ error: any Error, _ response: TestResponse) -> TestingError {
        TestingError(
            code: .undecodable,
            message: "The response has no \(type) in JSON: \(error)\n\(response)",
            routes: []
        )
    }

    static func handlersLeft(_ routes: [String]) -> TestingError {
        TestingError(
            code: .handlersLeft,
            message: "The server has ended, and handlers go on although they were cancelled.",
            routes: routes
        )
    }
}
