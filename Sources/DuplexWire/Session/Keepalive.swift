// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// When to ask an idle peer for a sign of life (RFC 6455 section 5.5.2).
public struct Keepalive: Sendable, Hashable {
    /// The time from one ping to the next, at first; `nil` when there are none.
    public let interval: Duration?
    /// What the time from one ping to the next may grow to; the same where it doesn't.
    public let longestInterval: Duration?
    /// How long the peer may stay silent after a ping before the connection is failed with 1011.
    public let timeout: Duration
    /// The first duration that was given and isn't longer than zero, which no connection can be made with.
    private let refused: Duration?

    private init(interval: Duration?, longestInterval: Duration? = nil, timeout: Duration, refused: Duration? = nil) {
        self.interval = interval
        self.longestInterval = longestInterval ?? interval
        self.timeout = timeout
        self.refused = refused
    }

    /// The durations that are set here.
    package var durations: [DurationSetting] { refused.map { [DurationSetting("keepalive", $0)] } ?? [] }

    private static func firstRefused(_ durations: Duration...) -> Duration? { durations.first { $0 <= .zero } }

    /// A ping every `interval`, failed when nothing at all arrives within `timeout` after it.
    ///
    /// - Parameters:
    ///   - interval: at least a millisecond; less is taken as that, and zero or less is an error when the connection is
    ///     made. For no pings see ``disabled``.
    ///   - timeout: as `interval`.
    /// - Returns: when to ping.
    public static func every(_ interval: Duration, timeout: Duration) -> Keepalive {
        Keepalive(
            interval: max(interval, .milliseconds(1)),
            timeout: max(timeout, .milliseconds(1)),
            refused: firstRefused(interval, timeout)
        )
    }

    /// Pings that become rarer as long as the peer answers them: each time by half, up to a longest interval.
    ///
    /// One that isn't answered before the next is due brings the first interval back. A peer that vanishes is noticed
    /// within the longest interval and the timeout.
    ///
    /// - Parameters:
    ///   - first: the time to the first ping, and from one to the next when the line is bad; at least a millisecond.
    ///   - longest: at least `first`.
    ///   - timeout: as in ``every(_:timeout:)``.
    /// - Returns: when to ping.
    public static func adaptive(from first: Duration, to longest: Duration, timeout: Duration) -> Keepalive {
        let shortest = max(first, .milliseconds(1))
        return Keepalive(
            interval: shortest,
            longestInterval: max(longest, shortest),
            timeout: max(timeout, .milliseconds(1)),
            refused: firstRefused(first, longest, timeout)
        )
    }

    /// No pings: a peer that vanishes is noticed when something is sent to it.
    public static let disabled = Keepalive(interval: nil, timeout: .zero)
}
