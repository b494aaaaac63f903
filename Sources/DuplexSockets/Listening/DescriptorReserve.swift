// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The descriptors that connections leave for files and for other servers: an eighth of those that the process may have, and 128 at
/// most.
///
/// The system gives out the lowest number that is free, so a high one says how many are taken.
enum DescriptorReserve {
    /// The lowest of them.
    static var first: Int32 {
        SocketError.mostDescriptors.map { Int32(clamping: first(of: $0)) } ?? .max
    }

    static func first(of most: UInt64) -> UInt64 {
        most - min(128, most / 8)
    }

    /// Whether the next descriptor that the system gives is none of them.
    static var isUntouched: Bool {
        let next = fcntl(0, F_DUPFD_CLOEXEC, 0)
        // Where descriptor 0 is closed, the next is 0.
        if next < 0 { return errno == EBADF }
        SystemCalls.close(next)
        return next < first
    }
}
