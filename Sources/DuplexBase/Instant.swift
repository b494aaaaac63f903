// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A point in time that the caller hands in: nanoseconds on a monotonic clock of the caller's choice.
///
/// The rules of the wire read no clock, so a test moves time by adding to an instant. Those of the sockets are of the
/// machine's monotonic clock, which never goes back and doesn't follow the calendar.
public struct Instant: Sendable, Hashable, InstantProtocol {
    /// Nanoseconds since the caller's clock began.
    public var nanoseconds: Int64

    /// The instant that lies this many nanoseconds after the caller's clock began.
    @inlinable
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The instant that much later; one too far away for 64 bits becomes the last there is.
    @inlinable
    public func advanced(by duration: Duration) -> Instant {
        advanced(nanoseconds: duration.wholeNanoseconds)
    }

    /// The same for a count that is at hand: taking a duration apart costs as much as the rest of a short step.
    @inlinable
    package func advanced(nanoseconds count: Int64) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(count)
        return Instant(nanoseconds: overflow ? (count < 0 ? .min : .max) : sum)
    }

    /// The time from this instant to the other.
    @inlinable
    public func duration(to other: Instant) -> Duration {
        let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
        // A duration has room for the difference of any two instants, 64 bits haven't.
        return overflow ? .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds) : .nanoseconds(difference)
    }

    /// Whether the left one is less than the right one.
    @inlinable
    public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension Duration {
    /// The duration in whole nanoseconds; one too long for 64 bits is cut to the longest that fits (292 years).
    @inlinable
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let longest: Int64 = seconds < 0 ? .min : .max
        if overflow { return longest }
        let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carried ? longest : sum
    }
}
