// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import CDuplexSystem
import Glibc

/// The poller over epoll(7), with a timerfd(2) for the time: a wait with a time-out of its own would have the kernel set
/// up and take down a timer each time, while the next timer of a loop is nearly always the same as before.
@safe package final class EpollPoller: Poller {
    /// How many events a turn begins with at most: few enough that the next wait comes soon.
    private static let capacity = 256
    private static let timerToken = UInt64.max - 1
    private let descriptor: Int32
    private let timer: Int32
    /// What the timer is set to; it has come or comes no later than anybody waits for.
    private var timerInstant: Instant?
    /// Where the kernel writes events; only `wait` touches it.
    private let buffer: UnsafeMutableBufferPointer<epoll_event>

    package init() throws(SocketError) {
        descriptor = SystemCall.makePoller.make { epoll_create1(Int32(EPOLL_CLOEXEC)) }
        guard descriptor >= 0 else {
            throw .system("epoll could not be set up.", errno: errno)
        }
        timer = SystemCall.makeTimer.make {
            timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
        }
        guard timer >= 0 else {
            let code = errno
            Glibc.close(descriptor)
            throw .system("A timer descriptor could not be made.", errno: code)
        }
        unsafe buffer = .allocate(capacity: Self.capacity)
        unsafe buffer.initialize(repeating: epoll_event())
        // Edge-triggered: it is reported once each time it comes, and never has to be read.
        var event = unsafe cduplex_epoll_event(EPOLLIN.rawValue | EPOLLET.rawValue, Self.timerToken)
        if SystemCall.watch.make({ unsafe epoll_ctl(descriptor, EPOLL_CTL_ADD, timer, &event) }) != 0 {
            let code = errno
            close()
            throw SocketError(.system, message: "A timer descriptor could not be watched.", errno: code)
        }
    }

    deinit {
        unsafe buffer.deallocate()
    }

    package func add(_ descriptor: Int32, token: UInt64, interest: Readiness) throws(SocketError) {
        if SystemCall.watch.make(on: descriptor, { control(EPOLL_CTL_ADD, descriptor, token, interest) }) != 0 {
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

    package func wait(_ limit: PollLimit, into events: inout [PollEvent]) {
        events.removeAll(keepingCapacity: true)
        if case .until(let instant) = limit { setTimer(noLaterThan: instant) }
        let timeout: Int32 = limit == .now ? 0 : -1
        let count = SystemCall.wait.make {
            unsafe cduplex_epoll_wait(self.descriptor, buffer.baseAddress, Int32(Self.capacity), timeout)
        }
        guard count > 0 else { return }  // A time-out, or a signal: the loop comes back by itself.
        for index in 0..<Int(count) {
            var event = unsafe buffer[index]
            let token = unsafe cduplex_epoll_token(&event)
            if token == Self.timerToken {
                timerInstant = nil
                continue
            }
            unsafe events.append(PollEvent(token: token, readiness: Readiness(epoll: event.events)))
        }
    }

    private func setTimer(noLaterThan instant: Instant) {
        if let timerInstant, timerInstant <= instant { return }
        timerInstant = instant
        // An instant of zero would switch the timer off; one in the past comes at once.
        let nanoseconds = max(instant.nanoseconds, 1)
        var setting = itimerspec()
        setting.it_value.tv_sec = Int(nanoseconds / 1_000_000_000)
        setting.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
        let code = unsafe timerfd_settime(timer, Int32(TFD_TIMER_ABSTIME), &setting, nil)
        assert(code == 0, "timerfd_settime refused an instant: errno \(errno)")
    }

    package func close() {
        Glibc.close(timer)
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
