// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// Where a link to Redis stands.
enum RedisLinkState: Sendable, CustomStringConvertible {
    /// It hasn't begun.
    case idle
    /// An attempt is under way: the first since the last connection, or a later one.
    case connecting(attempt: Int)
    /// There is a connection to this server.
    case connected(RedisURL)
    /// The last attempt or connection has ended so, and the next attempt begins at that time of the loop's clock.
    case waiting(RedisError, until: Instant)
    /// It was closed on this side.
    case closed

    /// Whether commands are sent at once.
    var isConnected: Bool { if case .connected = self { true } else { false } }

    var description: String {
        switch self {
        case .idle: "idle"
        case .connecting(let attempt): "connecting, attempt \(attempt)"
        case .connected(let url): "connected to \(url)"
        case .waiting(let error, _): "waiting: \(error)"
        case .closed: "closed"
        }
    }
}
