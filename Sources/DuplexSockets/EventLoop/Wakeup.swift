// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

/// Ends a poller's wait from another thread: an eventfd(2), or a pipe where there is none.
package struct Wakeup: Sendable {
    /// What the poller watches.
    package let descriptor: Int32
    /// Where signals are written; of an eventfd the same.
    private let entrance: Int32

    /// Makes one.
    ///
    /// - Parameter isPipe: whether it is a pipe, which every system has; an eventfd is Linux's. Default: a pipe with
    ///   poll(2), an eventfd with epoll(7).
    /// - Throws: ``SocketError`` when the system has no descriptor to give.
    package init(isPipe: Bool? = nil) throws(SocketError) {
        let isPipe = isPipe ?? SystemPoller.isPollWanted
        var ends: (exit: Int32, entrance: Int32) = (-1, -1)
        let made = SystemCall.makeWakeup.make {
            ends = isPipe ? Self.pipe() : Self.event()
            return ends.exit
        }
        guard made >= 0 else {
            throw .system("What wakes an event loop could not be made.", errno: errno)
        }
        (descriptor, entrance) = ends
    }

    private static func event() -> (Int32, Int32) {
        #if os(Linux)
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        return (descriptor, descriptor)
        #else
        return pipe()
        #endif
    }

    private static func pipe() -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        #if canImport(Glibc)
        let code = unsafe Glibc.pipe(&ends)
        #else
        let code = unsafe Darwin.pipe(&ends)
        #endif
        guard code == 0 else { return (-1, -1) }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        return (ends[0], ends[1])
    }

    /// Makes the descriptor readable.
    package func signal() {
        // What an eventfd is written. The one way it can fail is that there is no room, and then it is readable already.
        var one: UInt64 = 1
        _ = unsafe write(entrance, &one, MemoryLayout<UInt64>.size)
    }

    /// Makes the descriptor unreadable again, if no more than 64 signals wait.
    package func clear() {
        unsafe withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 64) { room in
            let size = room.count * MemoryLayout<UInt64>.size
            _ = SystemCall.clearWakeup.make(on: descriptor) { unsafe read(descriptor, room.baseAddress, size) }
        }
    }

    package func close() {
        SystemCalls.close(descriptor)
        if entrance != descriptor { SystemCalls.close(entrance) }
    }
}
