// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What sessions are made with: one for all connections that are made alike, which then hold no copy of it.
public final class SessionSettings: Sendable {
    /// The most messages that wait for the app.
    public let inboxMessages: Int
    /// The most bytes of messages that wait for the app.
    public let inboxBytes: ByteCount
    /// How long a closing handshake may take.
    public let closeTimeout: Duration
    let limits: AssemblyLimits
    let keepalive: KeepaliveTimes

    /// Makes settings.
    ///
    /// - Parameters:
    ///   - limits: what the peer may make this side hold.
    ///   - keepalive: when to ping. Default: a ping every 20 s, and 20 s for its pong.
    ///   - closeTimeout: how long a closing handshake may take. Default: 10 s.
    public init(
        limits: MessageLimits = .internet,
        keepalive: Keepalive = .every(.seconds(20), timeout: .seconds(20)),
        closeTimeout: Duration = .seconds(10)
    ) {
        inboxMessages = limits.inboxMessages
        inboxBytes = limits.inboxBytes
        self.closeTimeout = closeTimeout
        self.limits = AssemblyLimits(limits)
        self.keepalive = KeepaliveTimes(keepalive)
    }
}

/// A ``Keepalive`` in nanoseconds.
final class KeepaliveTimes: Sendable {
    /// The first interval, and the one when the line is bad; 0 for no pings.
    let shortest: Int64
    let longest: Int64
    let timeout: Int64

    init(_ keepalive: Keepalive) {
        shortest = keepalive.interval?.wholeNanoseconds ?? 0
        longest = keepalive.longestInterval?.wholeNanoseconds ?? 0
        timeout = keepalive.timeout.wholeNanoseconds
    }
}
