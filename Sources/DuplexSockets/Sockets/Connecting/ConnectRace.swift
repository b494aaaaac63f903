// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Connects to the first of several addresses that answers (RFC 8305 section 5).
///
/// An attempt starts every 250 ms, or what the options say, and as soon as one has failed; the first to connect wins and
/// the others are closed. Lives on one loop, which keeps it until it is over.
package final class ConnectRace: TimerTarget, StopObserver {
    /// What came of a race.
    package struct Report {
        /// The connected descriptor, or an error that has the cause for each address.
        package var result: Result<Int32, SocketError>
        /// What was tried, in the order in which that began.
        package var attempts: [ConnectTimeline.Attempt]
    }

    /// An address that was tried, and its state.
    private struct Entry {
        var attempt: ConnectAttempt?
        let address: SocketAddress
        let start: Instant
        var end: Instant?
        var outcome = ConnectTimeline.Outcome.abandoned
        var error: SocketError?
    }

    let core: LoopCore
    let options: ConnectOptions
    /// What each attempt is bound to before it connects.
    let binding: LocalBinding?
    private let began: Instant
    private var waiting: ArraySlice<SocketAddress>
    private var entries: [Entry] = []
    private var completion: ((Report) -> Void)?
    private var delayTimer: TimerID?
    private var deadlineTimer: TimerID?

    /// Prepares a race.
    ///
    /// - Parameters:
    ///   - addresses: tried in this order.
    ///   - core: the loop that it is run on.
    ///   - options: the times between attempts and for each, where they come from, and the deadline of the whole.
    ///   - began: when the whole began, from which its deadline and the times of the report count; now if it is `nil`.
    ///   - completion: called once, on the loop; not called after ``cancel()``.
    /// - Throws: ``SocketError`` when there is no such local end.
    package init(
        _ addresses: [SocketAddress],
        core: LoopCore,
        options: ConnectOptions,
        began: Instant? = nil,
        completion: @escaping (Report) -> Void
    ) throws(SocketError) {
        self.core = core
        self.options = options
        self.began = began ?? core.readClock()
        self.completion = completion
        binding = try LocalBinding(options)
        waiting = addresses[...]
    }

    package func start() {
        do throws(SocketError) {
            try core.observeStop(self)
        } catch {
            finish(.failure(error))
            return
        }
        deadlineTimer = core.schedule(self, at: began.advanced(by: options.timeout))
        startNext()
    }

    /// Gives up: everything is closed and nobody is notified.
    package func cancel() {
        completion = nil
        end()
    }

    package func timerFired(_ timer: TimerID, now: Instant) {
        if timer == deadlineTimer {
            deadlineTimer = nil
            passDeadline()
        } else if timer == delayTimer {
            delayTimer = nil
            startNext()
        }
    }

    private func passDeadline() {
        let now = core.readClock()
        for index in entries.indices where entries[index].attempt != nil {
            let address = entries[index].address
            conclude(index, .timedOut, SocketError(.timedOut, message: "\(address) didn't answer in time."), now)
        }
        var message = "No address answered within \(options.timeout.rounded)."
        if !waiting.isEmpty { message += " \(waiting.count) more had not been tried by then." }
        finish(.failure(SocketError(.timedOut, message: message, causes: entries.compactMap(\.error))))
    }

    // MARK: Attempts

    /// Starts the next attempt, and more as long as they fail at once.
    private func startNext() {
        if let timer = delayTimer { core.cancel(timer) }
        delayTimer = nil
        while completion != nil, let address = waiting.popFirst() {
            let attempt = ConnectAttempt(address, race: self)
            tell(.began, address, attempt.began)
            entries.append(Entry(attempt: attempt, address: address, start: attempt.began))
            let isUnderWay = settle(entries.count - 1, attempt.start())
            if isUnderWay && options.effectiveAttemptDelay != nil { break }
        }
        guard completion != nil else { return }
        if waiting.isEmpty {
            if entries.allSatisfy({ $0.attempt == nil }) { finish(.failure(failure())) }
        } else if let delay = options.effectiveAttemptDelay {
            delayTimer = core.schedule(self, at: core.readClock().advanced(by: delay))
        }
    }

    fileprivate func decided(_ attempt: ConnectAttempt, _ state: ConnectAttempt.State) {
        guard let index = entries.firstIndex(where: { $0.attempt === attempt }) else { return }
        if !settle(index, state) && completion != nil { startNext() }
    }

    /// Takes note of what an attempt has come to.
    ///
    /// - Returns: whether it is still under way.
    private func settle(_ index: Int, _ state: ConnectAttempt.State) -> Bool {
        switch state {
        case .underWay: return true
        case .connected(let descriptor):
            conclude(index, .connected, nil)
            finish(.success(descriptor))
        case .failed(let error):
            conclude(index, error.code == .timedOut ? .timedOut : .failed(errno: error.errno), error)
        }
        return false
    }

    private func conclude(
        _ index: Int,
        _ outcome: ConnectTimeline.Outcome,
        _ error: SocketError?,
        _ now: Instant? = nil
    ) {
        let now = now ?? core.readClock()
        entries[index].attempt?.abandon()
        entries[index].attempt = nil
        entries[index].end = now
        entries[index].outcome = outcome
        entries[index].error = error
        let phase: StageEvent.Phase =
            if let error { .failed(error) } else { outcome == .connected ? .ended : .abandoned }
        tell(phase, entries[index].address, now, since: entries[index].start)
    }

    private func tell(
        _ phase: StageEvent.Phase,
        _ address: SocketAddress,
        _ now: Instant,
        since start: Instant? = nil
    ) {
        guard let onStage = options.onStage else { return }
        let duration = start?.duration(to: now)
        onStage(StageEvent(.connecting, phase, address: address, instant: now, duration: duration))
    }

    package func loopStopped() {
        finish(.failure(SocketError(.loopStopped, message: "The event loop was stopped while connecting.")))
    }

    // MARK: The end

    /// The error for when every address has failed; its code is theirs where they agree.
    private func failure() -> SocketError {
        let causes = entries.compactMap(\.error)
        let code = causes.first?.code ?? .cannotConnect
        return SocketError(
            causes.allSatisfy { $0.code == code } ? code : .cannotConnect,
            message: "No connection could be made.",
            causes: causes
        )
    }

    private func finish(_ result: Result<Int32, SocketError>) {
        let completion = completion
        self.completion = nil
        end()
        completion?(Report(result: result, attempts: timeline()))
    }

    private func timeline() -> [ConnectTimeline.Attempt] {
        entries.map { entry in
            ConnectTimeline.Attempt(
                address: entry.address,
                start: began.duration(to: entry.start),
                end: began.duration(to: entry.end ?? entry.start),
                outcome: entry.outcome
            )
        }
    }

    private func end() {
        for index in entries.indices where entries[index].attempt != nil { conclude(index, .abandoned, nil) }
        waiting = []
        core.forgetStop(self)
        if let timer = delayTimer { core.cancel(timer) }
        if let timer = deadlineTimer { core.cancel(timer) }
        delayTimer = nil
        deadlineTimer = nil
    }
}

/// One address that is being connected to, on one loop.
private final class ConnectAttempt: DescriptorHandler, TimerTarget {
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
