// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// How many descriptors the system lets this process have; each connection takes one.
enum DescriptorLimit {
    /// Raises the limit as far as the process may by itself.
    ///
    /// Systems begin with 1,024 for the sake of programs that use select(2), which can't count further, and expect of
    /// others that they ask for more. What is refused stays as it is: the one who lacks a descriptor in the end says so.
    ///
    /// - Returns: the limit that holds from now on; 0 if the system doesn't say.
    @discardableResult
    static func raise() -> UInt64 {
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return 0 }
        let before = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        return UInt64(unsafe setrlimit(resource, &limit) == 0 ? limit.rlim_cur : before)
    }

    #if canImport(Glibc)
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let resource = RLIMIT_NOFILE
    #endif
}
