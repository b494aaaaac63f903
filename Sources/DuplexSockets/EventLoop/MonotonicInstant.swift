// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

/// A point in time on the machine's monotonic clock, in nanoseconds; it never goes back and doesn't follow the calendar.
package struct MonotonicInstant: Sendable, Hashable, Comparable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Reads the clock.
    package static func now() -> MonotonicInstant {
        var time = timespec()
        // With a valid pointer and a clock that every kernel has, this call can't fail.
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The instant this much later; one too far away for 64 bits becomes the last instant there is, or the first.
    package func advanced(by duration: Duration) -> MonotonicInstant {
        let (seconds, attoseconds) = duration.components
        let farthest: Int64 = duration < .zero ? .min : .max
        let (scaled, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (whole, isCarried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        if isTooLong || isCarried { return MonotonicInstant(nanoseconds: farthest) }
        let (sum, overflow) = nanoseconds.addingReportingOverflow(whole)
        return MonotonicInstant(nanoseconds: overflow ? farthest : sum)
    }

    package func duration(to other: MonotonicInstant) -> Duration {
        .nanoseconds(other.nanoseconds - nanoseconds)
    }

    package static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}
