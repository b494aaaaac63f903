// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// How many requests in which time; see ``RouteOption/rateLimit(_:burst:by:clients:)``.
public struct RequestRate: Sendable, Hashable {
    let count: Int
    let period: Duration

    private init(_ count: Int, in period: Duration) {
        precondition(count > 0, "A rate lets at least one request through.")
        self.count = count
        self.period = period
    }

    /// So many in a second, at least 1.
    public static func perSecond(_ count: Int) -> RequestRate { RequestRate(count, in: .seconds(1)) }

    /// So many in a minute, at least 1.
    public static func perMinute(_ count: Int) -> RequestRate { RequestRate(count, in: .seconds(60)) }

    /// So many in an hour, at least 1.
    public static func perHour(_ count: Int) -> RequestRate { RequestRate(count, in: .seconds(3_600)) }

    /// The time in which one more may come, in nanoseconds.
    var interval: Int64 { max(1, period.wholeNanoseconds / Int64(count)) }
}
