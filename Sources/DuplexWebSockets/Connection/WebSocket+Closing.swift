// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
            if ending.phase == .closed { waiter.resume(returning: ()) } else { closers.append(waiter) }
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
        guard ending.phase != .closed else { return }
        endPause()
        inbox.drop()
        stopReadingAhead()
        streams?.drop()
        extras?.controlInbox?.drop()
        session.reset()
        channel.reset()
        finish()
    }

    /// Begins to close, or does what an ending that was put off for the app's sake still asks for.
    package func beginClose(_ code: CloseCode, reason: String = "") {
        conclude()
        guard ending.isAttached else { return }
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
    func end(_ cause: SocketEnding.Cause) {
        endPause()
        ending.end(cause)
        updateReading()
        if waiters.isReceiving || handler.isPresent || !session.canSend {
            settle()
        } else if isAwaitingApp {
            setDeadline(.conclusion)
        } else {
            channel.core.flushAtEndOfTurn(self)
        }
    }

    /// Whether a task is still to handle messages that came before a violation.
    package var isAwaitingApp: Bool {
        ending.isAppAsked && !waiters.isReceiving && !handler.isPresent && session.canSend
    }

    /// Does what the ending asks for once the turn is over, behind a message that is being sent in pieces: within it a
    /// whole message couldn't be distinguished from a part.
    ///
    /// That message has as long as a closing handshake.
    func settle() {
        guard ending.isUnanswered, streams?.writer != nil, session.hasSentPiece else { return conclude() }
        setDeadline(.conclusion)
    }

    func streamEnded() {
        switch ending.phase {
        case .open:
            // Bytes that the inbox had no room for come first; they may hold the peer's close frame.
            ending.streamEnded()
            if !inbox.hasRest && !session.hasMoreToGive { end(.streamEnded) }
        case .lingering: finish()
        case .ending, .closed: break
        }
    }

    func transportFailed(_ error: SocketError) {
        guard ending.phase != .closed else { return }
        takeLastOfHandler()
        if let violation = ending.violation {
            session.fail(violation, now: now)
        } else if ending.isAttached && session.state == .open {
            ending.end(.lost(error))
        }
        if inbox.hasRest || session.hasMoreToGive {
            // What had come before is still for the app.
            inbox.beginAhead()
            session.endOfStreamAhead()
        } else {
            session.endOfStream()
        }
        finish()
    }

    /// Gives a synchronous handler what had come before the transport failed.
    private func takeLastOfHandler() {
        guard handler.isPresent else { return }
        while ending.isTaking, inbox.hasRest {
            beginParsing()
            parsePart()
        }
    }

    /// Does what the ending asks for, whatever is being sent.
    func conclude() {
        guard let action = ending.action else { return }
        clearDeadline()
        switch action {
        case .answerClose:
            session.answerClose(now: now)
            afterCloseFrame()
        case .fail(let error):
            session.fail(error, now: now)
            afterCloseFrame()
        case .finish:
            session.endOfStream()
            finish()
        }
    }

    /// Sends the close frame that the session has ready, and then waits for what must follow it.
    private func afterCloseFrame() {
        endPause()
        if session.hasControlOutput { writeControlOutput() }
        guard session.state != .closed && ending.phase == .open else {
            // Both close frames are exchanged, or the peer is no longer listened to.
            linger()
            return
        }
        if !channel.isReading || inbox.isAhead {
            stopReadingAhead()
            // What came before is parsed before what comes now.
            parseRest()
            updateReading()
        }
        armSessionTimer()
    }

    // MARK: The end of the transport

    /// Ends the outgoing stream behind the close frame, and throws away what arrives until the peer has ended its own.
    private func linger() {
        guard ending.isAttached else { return }
        endPause()
        ending.linger()
        channel.finishWriting()
        updateReading()
        stopSessionTimer()
        setDeadline(.linger)
        failWaiters()
        guard ending.hasStreamEnded else { return }
        // The peer has ended its side already, and won't say so again.
        channel.flush()
        if channel.queuedBytes == 0 { finish() }
    }

    /// The descriptor is closed; all waiters are notified.
    private func finish() {
        guard ending.phase != .closed else { return }
        ending.close()
        observeEnd(now)
        noteHandlerTask(.none)
        channel.close()
        stopSessionTimer()
        clearDeadline()
        if !session.endIsAhead {
            inbox.dropRest()
            stopReadingAhead()
        }
        failWaiters()
        // Somebody who waits gets what had come before the transport failed, such as during a pause.
        if session.endIsAhead && waiters.isReceiving { parseBeforeEnd() }
        while let closer = closers.popLast() { closer.resume(with: .success(())) }
        forgetWatchers()
        follower.take()?.ended()
        if handler.isPresent {
            handler.closed(self, session.report)
            // Whose code it was is known no longer once others have forgotten the connection.
            channel.core.endStep(of: self)
        }
        tellEnd()
    }

    /// Ends the waits of senders, pings and the receiver.
    func failWaiters() {
        let error = endError()
        while let sender = takeSender() { sender.resume(with: .failure(error)) }
        for waiter in streams?.dropHeld() ?? [] { waiter.resume(with: .failure(error)) }
        while !pings.isEmpty { endPing({ _ in true }, .failure(error)) }
        if inbox.messageCount == 0, !session.endIsAhead, let receiver = waiters.takeReceiver() {
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

    /// Whether something has ended the connection.
    var isEnding: Bool { ending.phase != .open }

    /// Whether this side closed it, and nothing failed: neither the connection nor what it was asked to send.
    var isOwnClose: Bool {
        let report = session.report
        return report.initiator == .local && report.error == nil && streams?.isEndedFromWithin != true
    }

    func endError() -> WebSocketError {
        let report = session.report
        if let loss = ending.loss { return lost(loss) }
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
        guard ending.phase == .ending, !isAwaitingApp else { return }
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
        if takeSessionTimer(timer) {
            sessionDeadlinePassed(now)
        } else if let purpose = takeDeadline(timer) {
            switch purpose {
            case .pause: pauseEnded()
            case .conclusion: conclude()
            case .linger: finish()
            }
        } else if timer == record?.metersTimer {
            reportMeters()
        } else {
            let error = WebSocketError(.timedOut, message: "The pong didn't come in time.")
            endPing({ $0.timer == timer }, .failure(error))
        }
    }

    private func sessionDeadlinePassed(_ now: Instant) {
        guard ending.isAttached else { return }
        // As long as this side doesn't read, a pong may wait unread: then the slow one is us. Unless this side doesn't read
        // because it can't write, to a peer that takes nothing.
        let isStuck = channel.isStuck()
        if (!channel.isReading || inbox.isAhead) && !isStuck && ending.phase == .open && session.state == .open {
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
        case .pingTimedOut(let error), .messageTimedOut(let error): end(.violation(error))
        case .closeTimedOut:
            session.endOfStream()
            channel.reset()
            finish()
            return
        }
        if session.hasControlOutput { writeControlOutput() }
        armSessionTimer()
    }
}

// MARK: The accepting side

extension WebSocket {
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
        noteOwnTask()
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
    private func noteOwnTask() {
        noteHandlerTask(.current)
    }

    /// Ends the wait of a handler whose task has been cancelled; called on the loop.
    package func cancelHandler() {
        cancelReceiver(SocketWaiters.ofHandler)
    }
}
