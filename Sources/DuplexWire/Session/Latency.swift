// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What the round trips of a connection's pings have shown.
///
/// A value: a copy stays as it was. The last 32 round trips are kept for ``percentile(_:)``; the other figures go over all.
public struct Latency: Sendable, Hashable {
    /// How many round trips there were.
    package private(set) var count = 0
    // Nanoseconds, since each connection that is pinged holds these.
    private var lastNanoseconds: Int64 = 0
    private var minimumNanoseconds: Int64 = 0
    private var smoothedNanoseconds: Int64 = 0
    private var jitterNanoseconds: Int64 = 0
    /// The last ones in microseconds, the next place to write at ``count`` modulo their number.
    private var recent: [UInt32] = []

    /// How many round trips are kept.
    package static let recentCount = 32

    /// Nothing yet.
    package init() {}

    /// The latest; `nil` before the first.
    public var last: Duration? { count > 0 ? .nanoseconds(lastNanoseconds) : nil }

    /// The shortest; `nil` before the first.
    public var minimum: Duration? { count > 0 ? .nanoseconds(minimumNanoseconds) : nil }

    /// The mean in which the latest weighs an eighth, and all before it the rest (RFC 6298 section 2); `nil` before the
    /// first.
    public var smoothed: Duration? { count > 0 ? .nanoseconds(smoothedNanoseconds) : nil }

    /// How much one differs from the next: the mean in which the latest difference weighs a sixteenth (RFC 3550 section
    /// 6.4.1); `nil` before the second.
    public var jitter: Duration? { count > 1 ? .nanoseconds(jitterNanoseconds) : nil }

    /// Takes a round trip.
    mutating func record(_ roundTrip: Duration) {
        let nanoseconds = max(roundTrip.wholeNanoseconds, 0)
        switch count {
        case 0: (smoothedNanoseconds, minimumNanoseconds) = (nanoseconds, nanoseconds)
        case 1: jitterNanoseconds = abs(nanoseconds - lastNanoseconds)
        default: jitterNanoseconds += (abs(nanoseconds - lastNanoseconds) - jitterNanoseconds) / 16
        }
        smoothedNanoseconds += (nanoseconds - smoothedNanoseconds) / 8
        minimumNanoseconds = min(minimumNanoseconds, nanoseconds)
        lastNanoseconds = nanoseconds
        let microseconds = UInt32(clamping: nanoseconds / 1_000)
        if recent.count < Self.recentCount {
            recent.append(microseconds)
        } else {
            recent[count % Self.recentCount] = microseconds
        }
        count += 1
    }

    /// A percentile of the last 32 round trips, to the microsecond: the shortest that is at least as long as that share of
    /// them.
    ///
    /// - Parameter percent: above 0, at most 100; 50 is the median.
    /// - Returns: `nil` before the first round trip.
    public func percentile(_ percent: Double) -> Duration? {
        precondition(percent > 0 && percent <= 100, "A percentile lies above 0 and is at most 100.")
        guard !recent.isEmpty else { return nil }
        let rank = Int((percent / 100 * Double(recent.count)).rounded(.up))
        return .microseconds(recent.sorted()[max(rank, 1) - 1])
    }
}
