// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import CDuplexSystem
import Glibc

/// The poller over epoll(7).
@safe package final class EpollPoller: Poller {
    private static let capacity = 1_024
    private let descriptor: Int32
    /// Where the kernel writes events; only `wait` touches it.
    private let buffer: UnsafeMutableBufferPointer<epoll_event>

    package init() throws(SocketError) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else {
            throw SocketError(.system, message: "epoll could not be set up.", errno: errno)
        }
        unsafe buffer = .allocate(capacity: Self.capacity)
        unsafe buffer.initialize(repeating: epoll_event())
    }

    deinit {
        unsafe buffer.deallocate()
    }

    package func add(_ descriptor: Int32, token: UInt64, interest: Readiness) throws(SocketError) {
        if control(EPOLL_CTL_ADD, descriptor, token, interest) != 0 {
            throw SocketError(.system, message: "A descriptor could not be watched.", errno: errno)
        }
    }

    package func modify(_ descriptor: Int32, token: UInt64, interest: Readiness) {
        let code = control(EPOLL_CTL_MOD, descriptor, token, interest)
        assert(code == 0, "epoll_ctl refused a change: errno \(errno)")
    }

    package func remove(_ descriptor: Int32) {
        let code = control(EPOLL_CTL_DEL, descriptor, 0, [])
        assert(code == 0, "epoll_ctl refused a removal: errno \(errno)")
    }

    package func wait(timeout: Int32, into events: inout [PollEvent]) {
        events.removeAll(keepingCapacity: true)
        let count = unsafe epoll_wait(self.descriptor, buffer.baseAddress, Int32(Self.capacity), timeout)
        guard count > 0 else { return }  // A time-out, or a signal: the loop comes back by itself.
        for index in 0..<Int(count) {
            var event = unsafe buffer[index]
            let token = unsafe cduplex_epoll_token(&event)
            unsafe events.append(PollEvent(token: token, readiness: Readiness(epoll: event.events)))
        }
    }

    package func close() {
        Glibc.close(descriptor)
    }

    private func control(_ operation: Int32, _ descriptor: Int32, _ token: UInt64, _ interest: Readiness) -> Int32 {
        var event = unsafe cduplex_epoll_event(interest.epollEvents, token)
        return unsafe epoll_ctl(self.descriptor, operation, descriptor, &event)
    }
}

extension Readiness {
    fileprivate init(epoll events: UInt32) {
        self = []
        if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 { insert(.readable) }
        if events & EPOLLOUT.rawValue != 0 { insert(.writable) }
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { insert(.failed) }
    }

    fileprivate var epollEvents: UInt32 {
        var events: UInt32 = 0
        if contains(.readable) { events |= EPOLLIN.rawValue }
        if contains(.writable) { events |= EPOLLOUT.rawValue }
        return events
    }
}
#endif
