// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
package import DuplexSockets
package import DuplexWire
import Synchronization

// What the machine has decided, done: attempts, timers, connections that open and end.

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
            stopWaitTimer()
            waitTimer = loop.core.schedule(self, at: instant)
        case .stopTimer: stopWaitTimer()
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
        if let attemptTimer { loop.core.cancel(attemptTimer) }
        attemptTimer = nil
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

    func stopWaitTimer() {
        if let waitTimer { loop.core.cancel(waitTimer) }
        waitTimer = nil
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
        stopWaitTimer()
        stopFollowing()
        changes.finish()
        news.finish()
        // Behind what ends the stages of an attempt that is given up.
        loop.execute { [stageEvents] _ in stageEvents.finish() }
        resumeReceivers()
        while let sender = senders.popFirst() { sender.waiter.resume(throwing: Self.isOver) }
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
