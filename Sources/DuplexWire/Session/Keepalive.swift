// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// When to ask an idle peer for a sign of life (RFC 6455 section 5.5.2).
public struct Keepalive: Sendable, Hashable {
    /// The time from one ping to the next; `nil` when there are none.
    public let interval: Duration?
    /// How long the peer may stay silent after a ping before the connection is failed with 1011.
    public let timeout: Duration

    private init(interval: Duration?, timeout: Duration) {
        self.interval = interval
        self.timeout = timeout
    }

    /// A ping every `interval`, failed when nothing at all arrives within `timeout` after it.
    ///
    /// - Parameters:
    ///   - interval: at least a millisecond.
    ///   - timeout: at least a millisecond.
    /// - Returns: when to ping.
    public static func every(_ interval: Duration, timeout: Duration) -> Keepalive {
        Keepalive(interval: max(interval, .milliseconds(1)), timeout: max(timeout, .milliseconds(1)))
    }

    /// No pings: a peer that vanishes is noticed when something is sent to it.
    public static let disabled = Keepalive(interval: nil, timeout: .zero)
}
