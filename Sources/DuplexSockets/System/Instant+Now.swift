// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

extension Instant {
    /// Reads the machine's monotonic clock.
    package static func now() -> Instant {
        var time = timespec()
        // With a valid pointer and a clock that every kernel has, this call can't fail.
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

/// What instants were called here while the wire had its own.
package typealias MonotonicInstant = Instant

extension Instant {
    package init(_ instant: Instant) {
        self = instant
    }
}
