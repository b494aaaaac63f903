// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
package import DuplexSockets
public import DuplexWire
package import Logging

// How a connection ends: by this side, by the peer, by a violation, by a lost transport, by time. Every way leads to
// `finish`, once.

extension WebSocket {
    /// Closes the connection in order and waits until it is closed (RFC 6455 section 7).
    ///
    /// It always returns: a peer that doesn't answer in time (``WebSocketOptions/closeTimeout``) is reset. Default: 10
    /// s. Cancelling the task doesn't shorten that. Closing twice is the same as once.
    ///
    /// - Parameters:
    ///   - code: the reason for programs. `CloseCode.noStatusReceived` sends a close frame without code and reason; 1000 takes
    ///     the place of any other code that may not go on the wire (`CloseCode.isSendable`).
    ///   - reason: the reason for people; cut at 123 bytes of UTF-8, between two characters' scalars.
    /// - Returns: how the connection ended.
    @discardableResult
    public func close(code: CloseCode = .normalClosure, reason: String = "") async -> CloseReport {
        beginClose(code, reason: reason)
        // Not cancellable: what it waits for has a deadline of its own.
        try? await waitOnLoop { waiter in
            if stage == .closed { waiter.resume(returning: ()) } else { closers.append(waiter) }
        } onCancel: {
        }
        return session.report
    }

    /// Ends the connection at once, without a closing handshake: with a reset, where the transport is TCP (RFC 6455 section
    /// 7.1.1 has it for what is abnormal).
    ///
    /// Unsent messages are dropped, and so are unread ones. All waiters get a ``WebSocketError`` with
    /// ``WebSocketError/Code/closed``, and `CloseReport.wasReset` is true. The peer may lose what was sent before. A
    /// session of a ``ReconnectingWebSocket`` that is reset is closed by its own side: no other follows. Does nothing
    /// once the connection is closed.
    public func reset() {
        guard stage != .closed else { return }
        endPause()
        inbox = []
        carry = []
        (inboxCount, inboxBytes) = (0, 0)
        stopReadingAhead()
        streams?.drop()
        extras?.controlInbox?.drop()
        session.reset()
        channel.reset()
        finish()
    }

    /// Begins to close, or does what an ending that was put off for the app's sake still asks for.
    package func beginClose(_ code: CloseCode, reason: String = "") {
        if ending != nil { conclude() }
        guard stage == .open else { return }
        let maySend = code.isSendable || code == .noStatusReceived
        session.close(maySend ? code : .normalClosure, reason: reason, now: now)
        afterCloseFrame()
    }

    private var now: Instant {
        loop.clock.now()
    }

    // MARK: What ends it

    /// Nothing more is received; messages that came before stay for the app.
    ///
    /// The answer to a close goes out at the end of this turn, after what an app that answers at once has to say to the last
    /// message, and waits for no other: a connection that the peer closes isn't kept open by an app that doesn't receive. A
    /// violation fails the connection when the app asks for the next message: those before it were right, and the app may
    /// answer them. It has as long as a closing handshake for that.
    func end(_ ending: Ending) {
        endPause()
        self.ending = ending
        let channel = channel
        channel.isReading = false
        if receiver != nil || handler != nil || !session.canSend {
            settle()
        } else if isAwaitingApp {
            guard graceTimer == nil else { return }
            graceTimer = channel.core.schedule(self, at: channel.core.now.advanced(by: session.closeTimeout))
        } else {
            channel.core.flushAtEndOfTurn(self)
        }
    }

    /// Whether a task is still to handle messages that came before a violation.
    package var isAwaitingApp: Bool {
        guard case .violation(_, isAppAsked: true) = ending else { return false }
        return receiver == nil && handler == nil && session.canSend
    }

    /// Does what the ending asks for once the turn is over, behind a message that is being sent in pieces: within it a
    /// whole message couldn't be distinguished from a part.
    ///
    /// That message has as long as a closing handshake.
    func settle() {
        guard stage == .open, case .peerClosed = ending, streams?.writer != nil, session.hasSentPiece else {
            return conclude()
        }
        guard graceTimer == nil else { return }
        let core = channel.core
        graceTimer = core.schedule(self, at: core.now.advanced(by: session.closeTimeout))
    }

    func streamEnded() {
        if stage == .lingering {
            finish()
        } else if stage == .open && ending == nil {
            // Bytes that the inbox had no room for come first; they may hold the peer's close frame.
            hasStreamEnded = true
            if carry.isEmpty && !session.hasMoreToGive { end(.streamEnded) }
        }
    }

    func transportFailed(_ error: SocketError) {
        guard stage != .closed else { return }
        takeLastOfHandler()
        if case .violation(let error, _) = ending {
            session.fail(error, now: now)
        } else if stage == .open && session.state == .open {
            ending = .lost(error)
        }
        if !carry.isEmpty || session.hasMoreToGive {
            // What had come before is still for the app.
            isReadingAhead = true
            session.keepListening()
        }
        session.endOfStream()
        finish()
    }

    /// Gives a synchronous handler what had come before the transport failed.
    private func takeLastOfHandler() {
        guard handler != nil else { return }
        while isTaking, !carry.isEmpty {
            frameAllowance = Self.framesPerTurn
            session.boundFrames(to: Self.framesPerTurn)
            parseCarry()
        }
    }

    /// Does what the ending asks for, whatever is being sent.
    func conclude() {
        guard let ending, stage == .open else { return }
        stopGrace()
        switch ending {
        case .peerClosed:
            session.answerClose(now: now)
            afterCloseFrame()
        case .violation(let error, _):
            session.fail(error, now: now)
            afterCloseFrame()
        case .streamEnded, .lost:
            session.endOfStream()
            finish()
        }
    }

    /// Sends the close frame that the session has ready, and then waits for what must follow it.
    private func afterCloseFrame() {
        endPause()
        if session.hasControlOutput { writeControlOutput() }
        guard session.state != .closed && ending == nil else {
            // Both close frames are exchanged, or the peer is no longer listened to.
            linger()
            return
        }
        if !channel.isReading || isReadingAhead {
            stopReadingAhead()
            takeCarry()
            // What came before is parsed before what comes now.
            if carry.isEmpty { channel.isReading = true }
        }
        armSessionTimer()
    }

    private func stopGrace() {
        if let graceTimer { channel.core.cancel(graceTimer) }
        graceTimer = nil
    }

    // MARK: The end of the transport

    /// Ends the outgoing stream behind the close frame, and throws away what arrives until the peer has ended its own.
    private func linger() {
        guard stage == .open else { return }
        endPause()
        stage = .lingering
        channel.finishWriting()
        channel.isReading = true
        let core = channel.core
        stopSessionTimer()
        graceTimer = core.schedule(self, at: core.now.advanced(by: session.closeTimeout))
        failWaiters()
        guard hasStreamEnded else { return }
        // The peer has ended its side already, and won't say so again.
        channel.flush()
        if channel.queuedBytes == 0 { finish() }
    }

    /// The descriptor is closed; all waiters are notified.
    private func finish() {
        guard stage != .closed else { return }
        stage = .closed
        observeEnd(now)
        handlerTask = .none
        channel.close()
        stopSessionTimer()
        stopGrace()
        if !session.endIsAhead {
            carry = []
            stopReadingAhead()
        }
        failWaiters()
        // Somebody who waits gets what had come before the transport failed, such as during a pause.
        if session.endIsAhead && receiver != nil { takeBeforeEnd() }
        while let closer = closers.popLast() { closer.resume(with: .success(())) }
        forgetWatchers()
        follower.take()?.ended()
        if let handler {
            handler.closed(self, session.report)
            // Whose code it was is known no longer once others have forgotten the connection.
            channel.core.endStep(of: self)
        }
        let ended = ended
        self.ended = nil
        ended?(self)
    }

    /// Ends the waits of senders, pings and the receiver.
    func failWaiters() {
        let error = endError()
        while let sender = senders.popFirst() { sender.resume(with: .failure(error)) }
        for waiter in streams?.dropHeld() ?? [] { waiter.resume(with: .failure(error)) }
        while !pings.isEmpty { endPing({ _ in true }, .failure(error)) }
        if inbox.isEmpty, !session.endIsAhead, let receiver {
            self.receiver = nil
            receiver.resume(with: hasEndedInOrder ? .success(()) : .failure(error))
        }
    }

    // MARK: Notifying the receiver

    func endOfMessages() throws {
        if !hasEndedInOrder { throw endError() }
    }

    private var hasEndedInOrder: Bool {
        let report = session.report
        guard report.error == nil, report.isClean else { return false }
        guard let code = (report.initiator == .local ? report.sent : report.received)?.code else { return true }
        return [.normalClosure, .goingAway, .noStatusReceived].contains(code)
    }

    func endError() -> WebSocketError {
        let report = session.report
        if case .lost(let error) = ending { return lost(error) }
        if let error = report.error {
            return WebSocketError(.protocolViolation, message: error.message, cause: error, closeReport: report)
        }
        if !report.isClean && !report.wasReset {
            let message = "The connection ended without a closing handshake: \(report)."
            return WebSocketError(.connectionLost, message: message, closeReport: report)
        }
        return WebSocketError(.closed, message: "The connection is closed: \(report).", closeReport: report)
    }

    func lost(_ error: SocketError) -> WebSocketError {
        WebSocketError(.connectionLost, message: "The connection was lost.", cause: error, closeReport: session.report)
    }
}

extension WebSocket: Flushable {
    /// The end of a turn that has left something to do.
    package nonisolated func flush() {
        onLoop(loop) { socket, _ in
            socket.takeRest()
            socket.settleAtEndOfTurn()
        }
    }

    private func settleAtEndOfTurn() {
        guard ending != nil, stage == .open, !isAwaitingApp else { return }
        // What was written before goes out before a transport is closed.
        channel.flush()
        settle()
        channel.flush()
    }
}

// MARK: Time

extension WebSocket: TimerTarget {
    package nonisolated func timerFired(_ timer: TimerID, now: Instant) {
        onLoop(loop, (timer, now)) { $0.fired($1.0, $1.1) }
    }

    private func fired(_ timer: TimerID, _ now: Instant) {
        if timer == sessionTimer?.id {
            sessionTimer = nil
            sessionDeadlinePassed(now)
        } else if timer == graceTimer {
            graceTimer = nil
            if streams?.isPaused == true { return pauseEnded() }
            if stage == .lingering { finish() } else { conclude() }
        } else if timer == record?.metersTimer {
            reportMeters()
        } else {
            let error = WebSocketError(.timedOut, message: "The pong didn't come in time.")
            endPing({ $0.timer == timer }, .failure(error))
        }
    }

    private func sessionDeadlinePassed(_ now: Instant) {
        guard stage == .open else { return }
        // As long as this side doesn't read, a pong may wait unread: then the slow one is us. Unless this side doesn't read
        // because it can't write, to a peer that takes nothing.
        let isStuck = channel.isStuck()
        if (!channel.isReading || isReadingAhead) && !isStuck && ending == nil && session.state == .open {
            session.peerIsAlive(now: now)
            // To one that sends too fast only so much is given back: it could send so fast as never to be late.
            if let streams, streams.isPaused {
                excuseMessage(streams, now: now)
            } else {
                session.restartMessageTime(now: now)
            }
        }
        switch session.deadlinePassed(now: now) {
        case .none, .wrote: break
        case .keepaliveTimedOut(let error), .messageTimedOut(let error): end(.violation(error))
        case .closeTimedOut:
            session.endOfStream()
            channel.reset()
            finish()
            return
        }
        if session.hasControlOutput { writeControlOutput() }
        armSessionTimer()
    }

    /// Arms the timer for the session's next deadline; one that is armed for an earlier instant is left and looks again.
    func armSessionTimer() {
        guard stage == .open, let deadline = session.deadline else { return }
        if let armed = sessionTimer, armed.instant <= deadline { return }
        stopSessionTimer()
        let id = channel.core.schedule(self, at: deadline, keepsTarget: channel.keepsHandler)
        sessionTimer = ArmedTimer(id: id, instant: deadline)
    }

    private func stopSessionTimer() {
        if let sessionTimer { channel.core.cancel(sessionTimer.id) }
        sessionTimer = nil
    }
}

// MARK: The accepting side

extension WebSocket {
    /// Has `body` called once when the connection has ended, on its loop.
    package func onEnd(_ body: @escaping @Sendable (isolated WebSocket) -> Void) {
        ended = body
    }

    /// Runs a handler and closes the connection in order when it is done: with 1000 when it returns, 1001 when it was
    /// cancelled, and 1011 when it throws, which is logged.
    ///
    /// Whoever cancels the task also calls ``cancelHandler()``, on the loop: the handler's waits for messages don't watch
    /// for it, which spares each message the two locked steps of registering with the task, and an idle connection the
    /// frames in which it would wait.
    package func run(
        _ handler: @Sendable (isolated WebSocket) async throws -> Void,
        logger: Logger
    ) async {
        noteHandlerTask()
        var code = CloseCode.normalClosure
        do {
            try await handler(self)
            // What a handler waits for may end without an error when it is cancelled, as the loop over a stream does.
            if Task.isCancelled { code = .goingAway }
        } catch {
            code = closeCode(after: error, logger)
        }
        await closeApart(code)
    }

    private func closeCode(after error: any Error, _ logger: Logger) -> CloseCode {
        if error.isCancellation { return .goingAway }
        // A handler that only passes on that the connection has ended has not failed.
        if let error = error as? any ConnectionEndError, error.isConnectionEnd {
            logger.debug("a connection ended", metadata: ["connection": "\(id)", "reason": "\(error)"])
        } else {
            logger.error("a handler failed", metadata: ["connection": "\(id)", "error": "\(error)"])
        }
        return .internalError
    }

    // The two below are no part of their caller, whose frame each idle connection holds.

    @inline(never)
    private func closeApart(_ code: CloseCode) async {
        await close(code: code)
    }

    @inline(never)
    private func noteHandlerTask() {
        handlerTask = .current
    }

    /// Ends the wait of a handler whose task has been cancelled; called on the loop.
    package func cancelHandler() {
        cancelReceiver(Self.handlerWait)
    }
}
