// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
public import DuplexWire

// From bytes to the app: what the channel gives goes through the session, and each event to its receiver.

extension WebSocket: ChannelHandler {
    package nonisolated func received(_ bytes: inout MutableRawSpan) {
        // The loop calls its own channels alone, and the initializer has seen that this is one of this socket's loop.
        onPresentLoop(&bytes) { $0.take(&$1) }
    }

    package nonisolated func inputEnded() {
        onLoop(loop) { socket, _ in socket.streamEnded() }
    }

    package nonisolated func outputDrained() {
        onLoop(loop) { socket, _ in socket.resumeSenders() }
    }

    package nonisolated func failed(_ error: SocketError) {
        onLoop(loop, error) { $0.transportFailed($1) }
    }
}

extension WebSocket {
    /// Parses what has arrived; keeps what the inbox has no room for.
    @inline(__always)
    private func take(_ bytes: inout MutableRawSpan) {
        guard ending.isTaking else { return }
        // Bytes are parsed in the order in which they came.
        if inbox.isAhead || inbox.hasRest { return keep(behind: bytes.bytes) }
        let position: Int
        if handler.isPresent {
            position = parse(&bytes, for: handler)
        } else {
            inbox.allowance = SessionSettings.framesPerTurn
            position = parse(&bytes)
        }
        if isHeldBack { updateReading() }
        if bytes.byteCount >= Self.crowdedReceiveLimit {
            channel.limitReceive(to: inbox.allowance > 0 ? receiveLimit : Self.crowdedReceiveLimit)
        }
        if let streams, streams.rates != nil { charge(position, streams) }
        if position < bytes.byteCount && ending.isTaking {
            inbox.keep([UInt8](copying: bytes.bytes.extracting(droppingFirst: position)))
            updateReading()
            if inbox.allowance <= 0 { planRest() }
        }
    }

    /// Has what was kept looked at at the end of the turn, behind what others have sent.
    func planRest() {
        if inbox.planRest() { channel.core.flushAtEndOfTurn(self) }
    }

    /// Parses more of what this turn's allowance of frames has left, or looks further where the inbox is still full.
    func takeRest() {
        guard inbox.endPlan() else { return }
        beginParsing()
        if isInboxOpen { refill() } else { lookAhead() }
        if handler.isPresent { channel.core.endStep(of: self) }
    }

    /// A turn's share of frames begins anew.
    func beginParsing() {
        inbox.allowance = SessionSettings.framesPerTurn
        // Also if the clock stands still between two turns, as one that a test moves does.
        session.beginTurn()
    }

    /// Parses what was kept, as far as there is room for it now.
    func parseRest() {
        guard ending.isTaking else { return parseBeforeEnd() }
        guard inbox.hasRest || session.hasMoreToGive, streams?.isPaused != true else { return }
        guard inbox.allowance > 0 else { return planRest() }
        parsePart()
        guard ending.isTaking else { return }
        if inbox.hasRest {
            if inbox.allowance <= 0 { planRest() }
        } else if ending.hasStreamEnded && !session.hasMoreToGive {
            end(.streamEnded)
        }
    }

    /// Parses what was kept, and keeps what is left.
    func parsePart() {
        var (bytes, start) = inbox.beginParsing()
        var span = bytes.mutableSpan
        var raw = unsafe span.mutableBytes
        let position = if handler.isPresent { parse(&raw, from: start, for: handler) } else { parse(&raw, from: start) }
        inbox.endParsing()
        if let streams, streams.rates != nil { charge(position - start, streams) }
        guard position < bytes.count, ending.isTaking else { return }
        inbox.keep(bytes, parsed: position)
        // The handler may have closed meanwhile, which has the peer's answer read.
        if !inbox.isAhead { updateReading() }
    }

    /// Runs the session over the bytes, and hands each message to the handler where it lies.
    ///
    /// - Returns: how far it came.
    private func parse(_ bytes: inout MutableRawSpan, from start: Int = 0, for handler: HandlerBox) -> Int {
        let now = channel.now
        var position = start
        var count: Int32 = 0
        while ending.isTaking, count < SessionSettings.framesPerTurn {
            if let message = session.nextWholeMessage(in: &bytes, at: &position, now: now) {
                count &+= 1
                handler.received(bytes.bytes.extracting(message.range), message.kind, on: self)
                // Most of what is received are whole messages and nothing behind them.
                if position < bytes.byteCount || hasMoreToGive { continue }
                break
            }
            if position == bytes.byteCount && !hasMoreToGive { break }
            guard let event = nextEvent(in: &bytes, at: &position, now) else { break }
            switch event {
            case .message(let kind, .input(let range)):
                handler.received(bytes.bytes.extracting(range), kind, on: self)
            case .message(let kind, .assembled(let buffer)):
                handler.received(buffer.span.raw, kind, on: self)
                session.compression?.buffer?.giveBack(buffer)
            default:
                perform(event, now)
            }
        }
        inbox.parsedMessages = count
        // Nothing else leaves something.
        if position < bytes.byteCount { inbox.allowance = 0 }
        return position
    }

    /// Runs the session over the bytes until they are used up, the inbox is full, or nothing more may be received.
    ///
    /// - Returns: how far it came.
    private func parse(_ bytes: inout MutableRawSpan, from start: Int = 0) -> Int {
        if let streams, streams.isReceiving { return parsePieces(&bytes, from: start, streams) }
        let now = channel.now
        let allowance = inbox.allowance
        var position = start
        var count: Int32 = 0
        while ending.isTaking, isInboxOpen, count < allowance {
            if let message = session.nextWholeMessage(in: &bytes, at: &position, now: now) {
                count &+= 1
                deliver(Message(message.kind, copying: bytes.bytes.extracting(message.range)))
                // Most of what is received are whole messages and nothing behind them.
                if position < bytes.byteCount || hasMoreToGive { continue }
                break
            }
            if position == bytes.byteCount && !hasMoreToGive { break }
            guard let event = nextEvent(in: &bytes, at: &position, now) else { break }
            switch event {
            case .message(let kind, .input(let range)): deliver(Message(kind, copying: bytes.bytes.extracting(range)))
            case .message(let kind, .assembled(let buffer)): deliver(Message(kind, buffer))
            default: perform(event, now)
            }
        }
        inbox.parsedMessages = count
        inbox.allowance = position < bytes.byteCount && isInboxOpen ? 0 : allowance - count
        if !isInboxOpen { holdReading() }
        return position
    }

    /// Asks the session for what doesn't go the short way, and sees to it that a message that has begun ends in time.
    func nextEvent(in bytes: inout MutableRawSpan, at position: inout Int, _ now: Instant) -> WebSocketSession.Event? {
        let event = session.nextEvent(in: &bytes, at: &position, now: now)
        if session.holdsPartOfMessage { armSessionTimer() }
        return event
    }

    /// Does what an event asks for that isn't a message.
    @inline(never)
    func perform(_ event: WebSocketSession.Event, _ now: Instant) {
        keepControlFrame(event)
        switch event {
        case .message, .piece, .ping, .unaskedPong: break
        case .pong(let id, let roundTrip):
            answerPings(upTo: id, now: now)
            tellWatchers(roundTrip)
            observe(roundTrip: roundTrip)
        case .peerClose: end(.peerClosed)
        case .violation(let error): end(.violation(error, isAppAsked: true))
        }
        writeControlOutput()
    }

    /// Hands a message to the task that waits for it, or keeps it.
    @inline(__always)
    private func deliver(_ message: Message) {
        if waiters.isReceiving, let receiver = waiters.takeReceiver() {
            inbox.deliver(message)
            receiver.resume(returning: ())
        } else if inbox.hasRoom(session.settings) || isSessionOpen {
            inbox.append(message)
        }
    }

    /// Whether the inbox takes another message.
    ///
    /// After this side's close it always does, and drops what it can't hold: the peer's close frame may be behind it.
    var isInboxOpen: Bool {
        // The room first: the state of the session costs a check for overlapping accesses.
        inbox.hasRoom(session.settings) || mayDrop
    }

    /// Whether messages are dropped that there is no room for: after this side's close.
    ///
    /// A function of its own, as the compiler would ask before its callers' loops, in each receive, what nearly none needs:
    /// both take a check for overlapping accesses.
    var mayDrop: Bool {
        @inline(never) get { !isSessionOpen && !session.endIsAhead }
    }

    /// Whether neither side has begun to close; apart for the same reason.
    private var isSessionOpen: Bool {
        @inline(never) get { session.state == .open }
    }

    /// Whether the session has more than what lies in its input; only with ``streams`` it may.
    private var hasMoreToGive: Bool {
        streams != nil && session.hasMoreToGive
    }

    // MARK: The app's side

    /// Waits for the next message.
    ///
    /// Cancelling ends the wait at once; the connection stays open and no message is lost.
    ///
    /// - Throws: ``WebSocketError``: with code ``WebSocketError/Code/closed`` once the connection has ended in order,
    ///   and with what went wrong when it hasn't; ``WebSocketError/Code/alreadyReceiving``; `CancellationError`.
    public func receive() async throws -> Message {
        if let message = try await nextMessage() { return message }
        let report = closeReport
        throw WebSocketError(.closed, message: "The connection is closed: \(report).", closeReport: report)
    }

    @usableFromInline
    func waitCancellably() async throws {
        let id = SocketWaiters.nextID()
        try await waitOnLoop(id: id, isolation: self) { waiter in
            wait(waiter)
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancelReceiver(id) } }
        }
    }

    /// Has the waiter take what there is, or keeps it until there is something.
    func wait(_ waiter: Waiter<Void>) {
        do {
            if try mustWait() { waiters.receive(waiter) } else { waiter.resume(returning: ()) }
        } catch {
            waiter.resume(throwing: error)
        }
    }

    /// Delivers what there is, and says whether something may still come when there is nothing.
    private func mustWait() throws -> Bool {
        try checkNobodyReceives()
        if inbox.isAhead { refill() }
        if let message = takeMessage() ?? takeGathered() {
            inbox.deliver(message)
            return false
        }
        if ending.cause != nil { settle() }
        if !ending.isAttached && !inbox.isAhead {
            try endOfMessages()
            return false
        }
        if TaskIdentity.isCurrentCancelled { throw CancellationError() }
        if inbox.isAhead { planRest() }
        return true
    }

    /// - Throws: ``WebSocketError`` with ``WebSocketError/Code/alreadyReceiving``.
    func checkNobodyReceives() throws {
        guard waiters.isReceiving || inbox.hasDelivered else { return }
        throw WebSocketError(.alreadyReceiving, message: "Another task is receiving from this connection.")
    }

    /// Takes a message out of the inbox.
    @usableFromInline
    func takeMessage() -> Message? {
        guard let message = inbox.popFirst() else { return nil }
        if !channel.isReading || inbox.isAhead { refill() }
        return message
    }

    /// Takes the message that this task was resumed for; there is none when the connection has ended in order.
    @usableFromInline
    func takeDelivered() -> Message? { inbox.takeDelivered() }

    func cancelReceiver(_ id: UInt64) {
        waiters.takeReceiver(id)?.resume(with: .failure(CancellationError()))
    }

    /// Whether nothing is read because the peer doesn't take what waits for it.
    ///
    /// A synchronous handler answers from within, so it would make more of it. A task is held back in `send`, and only a
    /// server's isn't listened to meanwhile: what a client may have waiting in both directions would add up. A client goes on
    /// receiving, or two peers that both write would wait for each other.
    var isHeldBack: Bool {
        (handler.isPresent || !session.masksFrames) && channel.isAboveHighWaterMark
    }

    /// The same, as long as there is something to be held back: once this side has closed, nothing more is written or kept.
    var mustHoldBack: Bool { isHeldBack && session.state == .open }

    /// Goes on receiving once the inbox has room again.
    func refill(afterPause: Bool = false) {
        if mustHoldBack && ending.isTaking { return }
        parseRest()
        guard ending.isTaking, !inbox.hasRest else { return }
        if isInboxOpen {
            let wasAhead = inbox.isAhead
            stopReadingAhead()
            updateReading(afterPause: afterPause, wasAhead: wasAhead)
        } else if !inbox.isAhead {
            planRest()
        }
    }

    /// Reads, or stops reading: what decides it is said here alone.
    ///
    /// - Parameters:
    ///   - afterPause: whether it wasn't read because the peer was too fast: then nothing else made it late.
    ///   - wasAhead: whether it was read behind a full inbox, and nothing parsed.
    func updateReading(afterPause: Bool = false, wasAhead: Bool = false) {
        let reads = wantsInput
        // While this side didn't take it, the sender of the message that is arriving wasn't the slow one.
        if reads, !channel.isReading || wasAhead, !inbox.isAhead, !afterPause, session.holdsPartOfMessage {
            session.restartMessageTime(now: channel.core.now)
        }
        channel.isReading = reads
    }

    private var wantsInput: Bool {
        switch ending.phase {
        case .open: break
        case .lingering: return true
        case .ending, .closed: return false
        }
        if streams?.isPaused == true { return false }
        if inbox.isAhead { return !inbox.isParsing && inbox.aheadRoom > 0 && closeSearch?.isOver == false }
        if inbox.hasRest { return false }
        // Once this side has closed, all that comes may be dropped, and the peer's close is awaited.
        guard session.state == .open else { return true }
        return !isHeldBack && (handler.isPresent || hasRoomForMore)
    }

    /// Whether there is room for another message, or for another piece of one.
    private var hasRoomForMore: Bool {
        if let streams, streams.isReceiving { return hasRoom(streams) }
        return inbox.hasRoom(session.settings)
    }

    // MARK: Looking ahead

    // Behind a full inbox reading goes on for a bounded number of bytes, which are kept as they came: a peer's close
    // among them is answered at once, and what lies in front of it stays for the app. A close behind more than that is
    // seen when the app has taken some. Messages that are read in pieces have no such look ahead: what is kept of them
    // isn't at the beginning of a frame.

    /// The inbox is full: nothing more is received in this turn, and then only what ``lookAhead()`` asks for.
    private func holdReading() {
        updateReading()
        if session.state == .open { planRest() }
    }

    /// Looks for the peer's close in what was kept, and has more of it received.
    private func lookAhead() {
        guard ending.isTaking, session.state == .open, streams?.isReceiving != true, streams?.isPaused != true
        else { return }
        if !inbox.isAhead {
            guard let search = session.searchClose() else { return }
            inbox.beginAhead()
            closeSearch = search
            let kept = inbox.restBytes
            look(at: kept.span.raw.extracting(droppingFirst: inbox.restStart))
        }
        readAhead()
    }

    /// Keeps what has arrived after what was kept before.
    func keep(behind bytes: RawSpan) {
        inbox.append(rest: bytes)
        // The kept bytes are parsed first; until then one receive at most comes after them.
        guard inbox.isAhead else { return updateReading() }
        look(at: bytes)
        readAhead()
    }

    private func look(at bytes: RawSpan) {
        guard let payload = extras?.closeSearch?.search(bytes), session.peerCloses(ahead: payload) else { return }
        channel.limitReceive(to: receiveLimit)
        end(.peerClosed)
    }

    /// Receives as much as may still be kept, as long as a close may be found there.
    private func readAhead() {
        guard ending.isTaking else { return }
        updateReading()
        if inbox.aheadRoom > 0 { channel.limitReceive(to: inbox.aheadRoom) }
    }

    /// All that was kept is parsed, or of no use any more.
    func stopReadingAhead() {
        guard inbox.isAhead else { return }
        inbox.endAhead()
        closeSearch = nil
        if ending.isAttached { channel.limitReceive(to: receiveLimit) }
    }

    /// Parses more of what had come in front of an end that is known already.
    func parseBeforeEnd() {
        guard inbox.isAhead else { return }
        if session.endIsAhead { parsePartBeforeEnd() }
        if session.endIsAhead && (inbox.hasRest || session.hasMoreToGive) {
            // Whoever waits gets what comes of the rest.
            if waiters.isReceiving { planRest() }
        } else {
            inbox.dropRest()
            session.endInput()
            stopReadingAhead()
            if waiters.isReceiving { failWaiters() }
        }
    }

    private func parsePartBeforeEnd() {
        ending.beginRest()
        inbox.allowance = SessionSettings.framesPerTurn
        parsePart()
        ending.endRest()
        if let violation = ending.violation { session.fail(violation, now: channel.core.now) }
        updateReading()
    }
}

extension Message {
    /// A message with a copy of the payload.
    ///
    /// Of a text, the session has checked the UTF-8.
    init(_ kind: Kind, copying bytes: RawSpan) {
        switch kind {
        case .text: self = .text(String(copyingValidUTF8: bytes))
        case .binary: self = .binary([UInt8](copying: bytes))
        }
    }

    /// A message with that payload.
    ///
    /// Of a text, the session has checked the UTF-8.
    init(_ kind: Kind, _ bytes: [UInt8]) {
        switch kind {
        case .text: self = .text(String(decoding: bytes, as: UTF8.self))
        case .binary: self = .binary(bytes)
        }
    }
}

extension String {
    fileprivate init(copyingValidUTF8 bytes: RawSpan) {
        // The closure neither keeps the pointer nor reads past the span.
        self = unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
}

extension WebSocket {
    /// The messages as they arrive, whole.
    ///
    /// The sequence ends when the connection is closed in order (1000, 1001 or without a code), and throws otherwise.
    /// When the app is slow, the inbox fills (`MessageLimits.inboxMessages`), reading stops, and the peer is slowed
    /// down.
    ///
    /// All that is thrown is a ``WebSocketError``. Cancelling the task ends the wait with
    /// ``WebSocketError/Code/cancelled``; the connection stays open and no message is lost.
    @inlinable
    public nonisolated var messages: Messages {
        Messages(socket: self)
    }

    /// The messages of a connection; iterated by one task at a time.
    public struct Messages: AsyncSequence, Sendable {
        @usableFromInline let socket: WebSocket

        @inlinable
        init(socket: WebSocket) {
            self.socket = socket
        }

        /// Waits for one message after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            @usableFromInline let socket: WebSocket

            @inlinable
            init(socket: WebSocket) {
                self.socket = socket
            }

            /// The next message; `nil` once the connection has ended in order.
            @inlinable
            public mutating func next() async throws(WebSocketError) -> Message? {
                try await socket.nextMessageOrError()
            }

            /// The next message, without a hop on the connection's loop; `nil` once the connection has ended in order.
            ///
            /// Stays where its caller is, as functions without an isolation of their own do; `actor` isn't needed for that.
            @inlinable
            public mutating func next(isolation actor: (any Actor)?) async throws(WebSocketError) -> Message? {
                try await socket.nextMessageOrError()
            }
        }

        /// Begins to iterate.
        ///
        /// Inlined as all of this is: the compiler sees then that the socket of the iterator is that of the caller, and leaves
        /// out the hops between the two.
        @inlinable
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(socket: socket)
        }
    }

    /// The next message; `nil` once the connection has ended in order.
    ///
    /// Part of the function that calls it, with its wait: a call costs a hop back to the caller's executor, which asks the
    /// runtime, under a lock, which executor the task prefers even if it stays where it is; and an idle connection holds
    /// the frame of every function that its task waits in.
    @inlinable
    @inline(__always)
    func nextMessage() async throws -> Message? {
        if let message = takeMessage() { return message }
        if isHandlerTaskCurrent {
            // Resumed once, as every ``Waiter`` is.
            try unsafe await withUnsafeThrowingContinuation(isolation: self) { unsafe wait($0) }
        } else {
            try await waitCancellably()
        }
        return takeDelivered()
    }

    /// The same, with what ends it in one type, for callers on the loop without a hop.
    ///
    /// Not isolated, because each hop costs some three hundred instructions, also one that stays where it is, and the compiler
    /// puts one around each call of a function that is isolated. On the loop's thread nobody else uses the socket, whatever
    /// the caller is isolated to.
    ///
    /// Each wait has its own end, and that is a function apart: if they met in one place, an idle connection would hold room
    /// for the error between them.
    @inlinable
    @inline(__always)
    nonisolated func nextMessageOrError() async throws(WebSocketError) -> Message? {
        guard loop.isCurrent else { return try await nextFromElsewhere() }
        if let message = takeHere() { return message }
        if isHandlerTaskHere {
            do {
                // Resumed once, as every ``Waiter`` is.
                try unsafe await withUnsafeThrowingContinuation(isolation: #isolation) { unsafe waitHere($0) }
            } catch {
                return try endOfWait(error)
            }
        } else {
            do {
                try await waitCancellably()
            } catch {
                return try endOfWait(error)
            }
        }
        guard loop.isCurrent else { return await takeDelivered() }
        return takeDeliveredHere()
    }

    @usableFromInline
    func nextFromElsewhere() async throws(WebSocketError) -> Message? {
        try await nextMessageOrError()
    }

    @inline(never)
    @usableFromInline
    nonisolated func endOfWait(_ error: any Error) throws(WebSocketError) -> Message? {
        throw WebSocketError(endOfWait: error)
    }

    // On the loop's thread, which their callers have just found to be the present one.

    @usableFromInline
    nonisolated func takeHere() -> Message? {
        onPresentLoop(()) { socket, _ in socket.takeMessage() }
    }

    @usableFromInline
    nonisolated func takeDeliveredHere() -> Message? {
        onPresentLoop(()) { socket, _ in socket.takeDelivered() }
    }

    @usableFromInline nonisolated var isHandlerTaskHere: Bool {
        onPresentLoop(()) { socket, _ in socket.isHandlerTaskCurrent }
    }

    /// Waits; on another thread only where the task's isolation has led there meanwhile.
    @usableFromInline
    nonisolated func waitHere(_ continuation: UnsafeContinuation<Void, any Error>) {
        let waiter = unsafe Waiter(id: SocketWaiters.ofHandler, continuation)
        if loop.isCurrent {
            onPresentLoop(waiter) { $0.wait($1) }
        } else {
            loop.execute { _ in self.assumeIsolated { $0.wait(waiter) } }
        }
    }

    @usableFromInline
    func wait(_ continuation: UnsafeContinuation<Void, any Error>) {
        wait(unsafe Waiter(id: SocketWaiters.ofHandler, continuation))
    }
}
