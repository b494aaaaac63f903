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

    /// Reads the same clock as it stood at the system's last tick, up to 4 ms ago: cheap enough to be asked all the time.
    package static func coarse() -> Instant {
        #if canImport(Glibc)
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
        #else
        // The coarse clocks there don't go with the monotonic one.
        return now()
        #endif
    }
}

extension UnixTime {
    /// The present, by the system's clock.
    ///
    /// Hazard: that may be set at any moment, also back. For how long something takes there is `ContinuousClock`.
    public static var now: UnixTime { UnixTime(seconds: Int64(time(nil))) }

    /// How many seconds the time zone of this process is ahead of UTC then (localtime_r(3)).
    package var localOffset: Int {
        var seconds = time_t(seconds)
        var local = unsafe tm()
        guard unsafe localtime_r(&seconds, &local) != nil else { return 0 }
        return unsafe local.tm_gmtoff
    }
}
