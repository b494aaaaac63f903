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
        #if canImport(Glibc)
        return Instant(nanoseconds: cduplex_nanoseconds(CLOCK_MONOTONIC))
        #else
        return Instant(nanoseconds: Int64(clock_gettime_nsec_np(CLOCK_MONOTONIC)))
        #endif
    }

    /// Reads the same clock as it stood at the system's last tick, up to 4 ms ago: cheap enough to be asked all the time.
    package static func coarse() -> Instant {
        #if canImport(Glibc)
        return Instant(nanoseconds: cduplex_nanoseconds(CLOCK_MONOTONIC_COARSE))
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
    public static var now: UnixTime {
        // time(3) is that of the last tick, and files get the precise one: they would be from the next second.
        #if canImport(Glibc)
        return UnixTime(seconds: cduplex_nanoseconds(CLOCK_REALTIME) / 1_000_000_000)
        #else
        return UnixTime(seconds: Int64(clock_gettime_nsec_np(CLOCK_REALTIME) / 1_000_000_000))
        #endif
    }

    /// How many seconds the time zone of this process is ahead of UTC then (localtime_r(3)).
    package var localOffset: Int {
        var seconds = time_t(seconds)
        var local = unsafe tm()
        guard unsafe localtime_r(&seconds, &local) != nil else { return 0 }
        return unsafe local.tm_gmtoff
    }
}
