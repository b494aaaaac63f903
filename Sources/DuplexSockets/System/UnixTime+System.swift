// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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
