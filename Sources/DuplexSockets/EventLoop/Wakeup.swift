// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import CDuplexSystem
import Glibc

/// Ends a poller's wait from another thread: an eventfd(2).
package struct Wakeup: Sendable {
    package let descriptor: Int32

    package init() throws(SocketError) {
        descriptor = SystemCall.makeWakeup.make { eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK)) }
        guard descriptor >= 0 else {
            throw .system("An eventfd could not be made.", errno: errno)
        }
    }

    /// Makes the descriptor readable.
    package func signal() {
        // The one way it can fail is a full counter, and then the descriptor is readable already.
        eventfd_write(descriptor, 1)
    }

    /// Makes the descriptor unreadable again.
    package func clear() {
        var value: eventfd_t = 0
        _ = SystemCall.clearWakeup.make(on: descriptor) { unsafe eventfd_read(descriptor, &value) }
    }

    package func close() {
        Glibc.close(descriptor)
    }
}
#endif
