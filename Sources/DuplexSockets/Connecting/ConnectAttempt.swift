// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One address that is being connected to, on one loop.
final class ConnectAttempt: DescriptorHandler, TimerTarget {
    /// How it stands.
    enum State {
        case underWay
        case connected(Int32)
        case failed(SocketError)
    }

    /// How long a Unix socket whose backlog is full is left alone: there is no notification of room (connect(2),
    /// `EAGAIN`).
    private static let busyDelay = Duration.milliseconds(10)

    let address: SocketAddress
    let began: Instant
    private let race: ConnectRace
    private var descriptor: Int32 = -1
    private var timeoutTimer: TimerID?
    private var busyTimer: TimerID?

    init(_ address: SocketAddress, race: ConnectRace) {
        self.address = address
        self.race = race
        began = race.core.readClock()
    }

    /// Begins; the race is called back only for what was under way.
    func start() -> State {
        let state = open()
        if case .underWay = state, let timeout = race.options.attemptTimeout {
            timeoutTimer = race.core.schedule(self, at: began.advanced(by: timeout))
        }
        return state
    }

    /// Ends it; nobody is notified.
    func abandon() {
        if descriptor >= 0 {
            race.core.unwatch(descriptor)
            SystemCalls.close(descriptor)
        }
        descriptor = -1
        cancelTimers()
    }

    // MARK: Connecting

    private func open() -> State {
        do throws(SocketError) {
            let descriptor = try SystemCalls.streamSocket(address.family)
            do throws(SocketError) {
                try race.options.socketOptions.apply(to: descriptor, family: address.family)
                try race.binding?.bind(descriptor, for: address)
                return try connect(descriptor)
            } catch {
                SystemCalls.close(descriptor)
                throw error
            }
        } catch {
            return .failed(error)
        }
    }

    /// Connects a descriptor, which is the caller's to close when this throws.
    private func connect(_ descriptor: Int32) throws(SocketError) -> State {
        let code = SystemCalls.connect(descriptor, to: address)
        switch code {
        case 0:
            try refuseItself(descriptor)
            return .connected(descriptor)
        case EINPROGRESS:
            try race.core.watch(descriptor, for: .writable, handler: self)
            self.descriptor = descriptor
            return .underWay
        case EAGAIN where address.path != nil:
            SystemCalls.close(descriptor)
            busyTimer = race.core.schedule(self, at: race.core.readClock().advanced(by: Self.busyDelay))
            return .underWay
        default:
            throw refused(code)
        }
    }

    private func refused(_ code: Int32) -> SocketError {
        SocketError(.cannotConnect, message: "\(address) can't be connected to.", errno: code)
    }

    /// Where nobody listens at a port of this machine, TCP may give the attempt that very port, and connect it to itself
    /// (RFC 9293 section 3.5, simultaneous open).
    private func refuseItself(_ descriptor: Int32) throws(SocketError) {
        if address.path == nil && SocketAddress.local(of: descriptor) == address { throw refused(ECONNREFUSED) }
    }

    // MARK: Callbacks of the loop

    func ready(_ readiness: Readiness) {
        let descriptor = descriptor
        race.core.unwatch(descriptor)
        self.descriptor = -1
        do throws(SocketError) {
            let code = SystemCalls.pendingError(descriptor)
            if code != 0 { throw refused(code) }
            try refuseItself(descriptor)
            decide(.connected(descriptor))
        } catch {
            SystemCalls.close(descriptor)
            decide(.failed(error))
        }
    }

    func timerFired(_ timer: TimerID, now: Instant) {
        if timer == timeoutTimer {
            timeoutTimer = nil
            let timeout = race.options.attemptTimeout ?? .zero
            abandon()
            decide(.failed(SocketError(.timedOut, message: "\(address) didn't answer within \(timeout.rounded).")))
        } else if timer == busyTimer {
            busyTimer = nil
            let state = open()
            if case .underWay = state { return }
            decide(state)
        }
    }

    func loopStopped() {
        // The race, which was notified before, has abandoned it already.
    }

    private func decide(_ state: State) {
        cancelTimers()
        race.decided(self, state)
    }

    private func cancelTimers() {
        if let timer = timeoutTimer { race.core.cancel(timer) }
        if let timer = busyTimer { race.core.cancel(timer) }
        timeoutTimer = nil
        busyTimer = nil
    }
}
