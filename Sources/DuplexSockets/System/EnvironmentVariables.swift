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
