// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The variables of this process's environment.
package enum EnvironmentVariables {
    /// The value of a variable; `nil` where it isn't set.
    ///
    /// Hazard: another thread that changes the environment at the same time breaks it (getenv(3)); nothing here does.
    package static func value(of name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }
}

extension UnixTime {
    /// The time of the system's clock, which may be set at any moment.
    package static func ofSystem() -> UnixTime {
        UnixTime(seconds: Int64(time(nil)))
    }

    /// How many seconds the time zone of this process is ahead of UTC then (localtime_r(3)).
    package var localOffset: Int {
        var seconds = time_t(seconds)
        var local = unsafe tm()
        guard unsafe localtime_r(&seconds, &local) != nil else { return 0 }
        return unsafe local.tm_gmtoff
    }
}
