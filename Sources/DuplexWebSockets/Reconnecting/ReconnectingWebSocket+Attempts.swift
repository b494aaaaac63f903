// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
package import DuplexSockets
package import DuplexWire
import Synchronization

// What the machine has decided, done: attempts, timers, connections that open and end; and what changes of the network do.

extension ReconnectingWebSocket {
    /// Hands an event to the machine, and does what it says.
    func handle(_ event: ReconnectMachine.Event) {
        for action in machine.handle(event, now: loop.clock.now(), using: &random) { perform(action) }
        reviewChanges()
    }

    private func perform(_ action: ReconnectMachine.Action) {
        switch action {
        case .connect(let attempt): begin(attempt)
        case .abandon: endAttempt()
        case .disconnect: disconnect()
        case .probe(let number): probe(number)
        case .startTimer(let instant):
            stop(&waitTimer)
            waitTimer = loop.core.schedule(self, at: instant)
        case .stopTimer: stop(&waitTimer)
        case .tell(let change):
            changes.tell(change)
            news.tell(.change(change))
            if case .ended = change.phase { finish() }
        }
    }

    // MARK: Attempts

    private func begin(_ attempt: ReconnectAttempt) {
        follow()
        let making = ReconnectingAttempt(
            loop: loop,
            attempt: attempt,
            url: urls[attempt.url],
            options: options,
            preamble: preambleBox.withLock { $0 },
            durations: durations,
            onStage: { [stageEvents, news] event in
                stageEvents.tell(event)
                news.tell(.stage(event))
            }
        )
        if let limit = making.limit {
            attemptTimer = loop.core.schedule(self, at: loop.clock.now().advanced(by: limit))
        }
        // It keeps the client only once there is something to report, so that one that is dropped ends.
        let task = Task { [weak self] in
            do throws(ReconnectFailure) {
                let socket = try await making.run()
                if await self?.opened(socket, attempt.number) != true { await socket.close(code: .goingAway) }
            } catch {
                await self?.failed(error, attempt.number)
            }
        }
        self.attempt = (task, attempt.number)
    }

    /// Forgets the present attempt; a late result of it is closed.
    private func endAttempt() {
        attempt?.task.cancel()
        attempt = nil
        stop(&attemptTimer)
    }

    private func failed(_ failure: ReconnectFailure, _ number: Int) {
        guard attempt?.number == number else { return }
        endAttempt()
        handle(.failed(attempt: number, failure))
    }

    /// Takes over a connection.
    ///
    /// - Returns: whether it is wanted.
    private func opened(_ socket: WebSocket, _ number: Int) -> Bool {
        guard attempt?.number == number else { return false }
        attempt = nil
        endAttempt()
        current = (socket, number)
        unclaimed = socket
        handle(.opened(attempt: number))
        let end = socket.onLoop(loop, (ReconnectingReference(self), number)) {
            (socket: isolated WebSocket, argument: (ReconnectingReference, Int)) -> ReconnectingEnd? in
            let (reference, number) = argument
            if socket.stage == .closed { return socket.reconnectingEnd }
            socket.ended = { socket in reference.ended(number, socket.reconnectingEnd) }
            return nil
        }
        resumeReceivers()
        if let end { ended(number, end) } else { flush() }
        return true
    }

    /// A connection is closed, whoever wanted it.
    func ended(_ number: Int, _ end: ReconnectingEnd) {
        guard let current, current.number == number else { return }
        connectionIsGone()
        switch end {
        // The caller has closed it by itself: no other is wanted.
        case .ownClose: handle(.close)
        case .failed(let failure): handle(.failed(attempt: number, failure))
        }
    }

    private func connectionIsGone() {
        current = nil
        isDraining = false
        outbox.connectionEnded()
    }

    private func disconnect() {
        guard let socket = current?.socket else { return }
        connectionIsGone()
        let (code, reason) = closeFrame
        closing = Task { await socket.close(code: code, reason: reason) }
    }

    // MARK: Time

    private func stop(_ timer: inout TimerID?) {
        if let timer = timer.take() { loop.core.cancel(timer) }
    }

    private func fired(_ timer: TimerID) {
        if timer == waitTimer {
            waitTimer = nil
            handle(.timerFired)
        } else if timer == changeTimer {
            changeTimer = nil
            reviewChanges()
        } else if timer == attemptTimer, let number = attempt?.number {
            attemptTimer = nil
            failed(ReconnectFailure(.timedOut, cause: ReconnectingAttempt.late), number)
        }
    }

    // MARK: The end

    private func finish() {
        endAttempt()
        stop(&waitTimer)
        stopFollowing()
        changes.finish()
        news.finish()
        // Behind what ends the stages of an attempt that is given up.
        loop.execute { [stageEvents] _ in stageEvents.finish() }
        resumeReceivers()
        while let sender = senders.popFirst() { sender.waiter.resume(throwing: Self.isOver) }
    }

    // MARK: Changes of the network

    /// Begins to take changes, once.
    func follow() {
        guard follower == nil, let changes = options.networkChanges else { return }
        follower = Task { [weak self] in
            await changes { [weak self] isLoss in await self?.noted(isLoss: isLoss) }
        }
    }

    private func stopFollowing() {
        follower?.cancel()
        follower = nil
        stop(&changeTimer)
    }

    func noted(isLoss: Bool) {
        throttle.note(isLoss: isLoss)
        reviewChanges()
    }

    /// Acts on the changes that were noted, or sees to it that this is done in time.
    private func reviewChanges() {
        stop(&changeTimer)
        if case .ended = machine.phase { return }
        let now = loop.clock.now()
        let isOfChange = attempt != nil && attempt?.number == changeAttempt
        switch throttle.next(isConnecting: isOfChange, now) {
        case .nothing: break
        case .act: act()
        case .wait(let instant): changeTimer = loop.core.schedule(self, at: instant)
        }
    }

    func act() {
        let before = attempt?.number
        handle(.networkChanged)
        if let attempt, attempt.number != before { changeAttempt = attempt.number }
    }

    // MARK: The open connection

    /// Asks an open connection whether it lives; once at a time, however often the network changes.
    func probe(_ number: Int) {
        guard let socket = current?.socket else { return }
        if hasMoved(socket) {
            let message = "This machine hasn't the connection's address any more."
            lose(number, SocketError(.connectionReset, message: message))
            return
        }
        if probing == number {
            // The pong on its way says nothing of what the network has become since.
            mustProbeAgain = true
            return
        }
        probing = number
        mustProbeAgain = false
        Task { [weak self, timeout = options.probeTimeout] in
            var isSilent = false
            var isThere = false
            do {
                _ = try await socket.ping(timeout: timeout)
                isThere = true
            } catch {
                // One that is closing, or closed, ends by itself.
                isSilent = (error as? WebSocketError)?.code == .timedOut
            }
            await self?.probed(number, isSilent: isSilent, isThere: isThere)
        }
    }

    private func probed(_ number: Int, isSilent: Bool, isThere: Bool) {
        if probing == number { probing = nil }
        if isThere && mustProbeAgain && current?.number == number { return probe(number) }
        if isThere { handle(.answered(attempt: number)) }
        if isSilent { lose(number, SocketError(.timedOut, message: "No pong came after the network had changed.")) }
    }

    /// Whether the connection's address isn't this machine's any more while another one leads to the peer.
    private func hasMoved(_ socket: WebSocket) -> Bool {
        let address = socket.onLoop(loop) { socket, _ in socket.localAddress }
        guard let address, let peer = socket.remoteAddress else { return false }
        return SourceAddress.isGone(address) && SourceAddress.exists(to: peer)
    }

    /// The connection leads nowhere any more.
    private func lose(_ number: Int, _ error: SocketError) {
        guard let current, current.number == number else { return }
        current.socket.onLoop(loop, error) { socket, error in
            // Closing has a deadline of its own, and the peer needn't answer pings any more.
            guard socket.session.state == .open, socket.ending == nil else { return }
            socket.channel.reset()
            socket.transportFailed(error)
        }
    }
}

// A loop doesn't keep what its timers are for.
extension ReconnectingWebSocket: TimerTarget {
    package nonisolated func timerFired(_ timer: TimerID, now: Instant) {
        onLoop(loop, timer) { $0.fired($1) }
    }
}

/// What a client that reconnects reports.
package enum ReconnectNews: Sendable {
    case change(ReconnectChange)
    case stage(StageEvent)
}

/// How a connection of a client that reconnects has ended.
enum ReconnectingEnd: Sendable {
    /// The caller closed the connection.
    case ownClose
    case failed(ReconnectFailure)
}

extension WebSocket {
    /// How it has ended.
    var reconnectingEnd: ReconnectingEnd {
        let report = session.report
        let isOwn = report.initiator == .local && report.error == nil && streams?.isEndedFromWithin != true
        return isOwn ? .ownClose : .failed(endFailure)
    }
}

/// A client, for a connection that must notify it and not keep it.
final class ReconnectingReference: Sendable {
    private weak let client: ReconnectingWebSocket?

    init(_ client: ReconnectingWebSocket) {
        self.client = client
    }

    /// Called on the client's loop, which is the connection's.
    func ended(_ number: Int, _ end: ReconnectingEnd) {
        guard let client else { return }
        client.onLoop(client.loop, (number, end)) { $0.ended($1.0, $1.1) }
    }
}

/// When changes of the network are acted on: none is lost, those that come together are taken together.
///
/// The first is acted on at once. Those behind it wait 100 ms, and from the eighth time on twice as long each time, up to 2
/// seconds; 2 seconds without any and it begins anew. An attempt that was begun for a change has 5 seconds, since most that
/// come meanwhile belong to it, unless that was a loss and the next is none: then the attempt is one of the network that was
/// lost. When it fails, the next is made at once.
struct ChangeThrottle {
    /// What is to be done now.
    enum Next: Equatable {
        case nothing
        case act
        case wait(until: Instant)
    }

    static let firstGap = Duration.milliseconds(100)
    static let lastGap = Duration.seconds(2)
    static let settleTime = Duration.seconds(5)

    /// What was acted on last.
    private var last: (instant: Instant, isLoss: Bool)?
    private var gap = firstGap
    /// How often it was acted without a quiet time between: a network that goes and comes back takes a few.
    private var count = 0
    private static let quickOnes = 8
    /// Whether all that wait are losses; `nil` when none waits.
    private var waiting: Bool?
    /// Whether they were put off: then it wasn't quiet, however late the time for them comes.
    private var isPutOff = false

    /// Whether some wait.
    var isWaiting: Bool { waiting != nil }

    /// Takes a change.
    mutating func note(isLoss: Bool) {
        waiting = (waiting ?? true) && isLoss
    }

    /// One that wasn't taken was acted on.
    mutating func acted(_ now: Instant) {
        last = (now, false)
    }

    /// What is to be done about those that were taken.
    ///
    /// - Parameters:
    ///   - isConnecting: whether an attempt is under way that a change has begun.
    ///   - now: the time.
    /// - Returns: what; after ``Next/act`` none is left.
    mutating func next(isConnecting: Bool, _ now: Instant) -> Next {
        guard let waiting else { return .nothing }
        if let last {
            let isNews = last.isLoss && !waiting
            let due = last.instant.advanced(by: isConnecting && !isNews ? Self.settleTime : gap)
            if now < due {
                isPutOff = true
                return .wait(until: due)
            }
            let isQuiet = last.instant.advanced(by: Self.lastGap) < now
            if isQuiet && !isPutOff { count = 0 }
        }
        isPutOff = false
        count = min(count + 1, Self.quickOnes)
        gap = count < Self.quickOnes ? Self.firstGap : min(gap * 2, Self.lastGap)
        last = (now, waiting)
        self.waiting = nil
        return .act
    }
}
