// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// Why a command hasn't been run by Redis, or isn't known to have been.
///
/// ``code`` is for programs, ``message`` for people. No password is in it.
struct RedisError: Error, Sendable, CustomStringConvertible {
    /// The kind of fault.
    enum Code: Sendable, Hashable {
        /// No connection could be made.
        case cannotConnect
        /// The server didn't answer in time; whether the command was run isn't known.
        case timedOut
        /// The connection was lost; whether the command was run isn't known.
        case connectionLost
        /// What answered didn't speak Redis' protocol, or sent more than is taken.
        case malformed
        /// The server has refused; ``RedisError/reply`` says why.
        case refused
        /// As many commands wait as may; this one wasn't sent.
        case busy
        /// There is no connection for now; the command wasn't sent.
        case unavailable
        /// This side has closed.
        case closed
        /// The task that waited was cancelled.
        case cancelled
        /// There is a server, and it is no master.
        case notMaster
        /// Nobody in the cluster has the slot, or it was sent from node to node too often.
        case noNode
    }

    /// The kind of fault.
    let code: Code
    /// What was seen, in plain words.
    let message: String
    /// What the server has said, where it is ``Code/refused``.
    let reply: RedisErrorReply?

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
        reply = nil
    }

    /// The server has refused.
    ///
    /// - Parameters:
    ///   - reply: its words.
    ///   - secret: a password, which some servers repeat.
    init(_ reply: RedisErrorReply, hiding secret: String? = nil) {
        code = .refused
        var text = reply.text
        if let secret, !secret.isEmpty { text = text.replacing(secret, with: "…") }
        self.reply = RedisErrorReply(text)
        message = "Redis has refused: \(text)"
    }

    /// The kind of the server's error; `nil` where it isn't one.
    var kind: RedisErrorReply.Kind? { reply?.kind }

    /// Whether the server is none that can be written to any more, and another may be.
    var tellsOfOtherMaster: Bool {
        code == .notMaster || kind == .readOnly || kind == .masterDown
    }

    var description: String { message }
}
