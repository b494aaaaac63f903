// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire

// From bytes to pieces of messages, and to the task that reads them.

extension WebSocket {
    /// What the connection needs for messages in pieces, made when it is first asked for.
    func makeStreams() -> PieceTraffic {
        if let streams { return streams }
        let made = PieceTraffic()
        streams = made
        return made
    }

    /// Has messages that begin from here on received in pieces.
    @discardableResult
    func receivePieces(limit: ByteCount) -> PieceTraffic {
        let streams = makeStreams()
        session.streamMessages(limit: limit)
        streams.isReceiving = true
        return streams
    }

    // MARK: Arriving

    /// Runs the session over the bytes until they are used up, there is no room for more, or nothing more may be received.
    ///
    /// - Returns: how far it came.
    func parsePieces(_ bytes: inout MutableRawSpan, from start: Int, _ streams: PieceTraffic) -> Int {
        let now = channel.core.now
        // The session counts them all: none goes the short way.
        inbox.parsedMessages = 0
        var position = start
        while ending.isTaking, mayDrop || hasRoom(streams) {
            guard let event = session.nextEvent(in: &bytes, at: &position, now: now) else { break }
            switch event {
            case .piece(let piece):
                deliver(piece.kind, Self.bytes(piece.payload, bytes.bytes), isLast: piece.isLast, streams)
            case .message(let kind, let payload):
                deliver(kind, Self.bytes(payload, bytes.bytes), isLast: true, streams)
            default: perform(event, now)
            }
        }
        if position < bytes.byteCount && (mayDrop || hasRoom(streams)) { inbox.allowance = 0 }
        if session.state == .open && !hasRoom(streams) { updateReading() }
        return position
    }

    private static func bytes(_ payload: Session.Payload, _ input: RawSpan) -> [UInt8] {
        switch payload {
        case .input(let range): [UInt8](copying: input.extracting(range))
        case .assembled(let bytes): bytes
        }
    }

    /// Keeps a piece; after this side's close only as long as there is room.
    private func deliver(_ kind: Message.Kind, _ bytes: [UInt8], isLast: Bool, _ streams: PieceTraffic) {
        if mayDrop && !hasRoom(streams) { streams.inbox.cut() }
        streams.inbox.append(kind, bytes, isLast: isLast)
        guard waiters.isReceiving, !streams.inbox.isEmpty else { return }
        if streams.isGathering {
            guard let message = gather(streams) else { return }
            streams.isGathering = false
            inbox.deliver(message)
        }
        waiters.takeReceiver()?.resume(returning: ())
    }

    func hasRoom(_ streams: PieceTraffic) -> Bool {
        // A whole message has the bound of whole messages.
        if streams.isGathering { return streams.inbox.byteCount <= session.messageSize.bytes }
        let settings = session.settings
        return streams.inbox.messageCount < settings.inboxMessages
            && streams.inbox.byteCount < settings.inboxBytes.bytes
    }

    /// Goes on receiving once there is room again.
    private func refillPieces(_ streams: PieceTraffic) {
        guard !channel.isReading || session.hasMoreToGive || inbox.isAhead else { return }
        if mustHoldBack && ending.isTaking { return }
        parseRest()
        if !inbox.hasRest && !session.hasMoreToGive && hasRoom(streams) && ending.isTaking {
            let wasAhead = inbox.isAhead
            stopReadingAhead()
            updateReading(wasAhead: wasAhead)
        }
    }

    // MARK: Whole messages

    /// Takes the next message whole, if all of it is there; if not, the connection goes on gathering it.
    func takeGathered() -> Message? {
        guard let streams, streams.isReceiving else { return nil }
        // Whoever read a message in pieces can't go on.
        streams.messageNumber += 1
        streams.isGathering = true
        while true {
            if let message = gather(streams) {
                streams.isGathering = false
                refillPieces(streams)
                return message
            }
            let before = streams.inbox.appended
            refillPieces(streams)
            if streams.inbox.appended == before { return nil }
        }
    }

    private func gather(_ streams: PieceTraffic) -> Message? {
        let limit = session.messageSize
        switch streams.inbox.gather(limit: limit.bytes) {
        case .whole(let message): return message
        case .unfinished: return nil
        case .tooLarge:
            end(.violation(ProtocolError(.messageTooLarge, "A message is longer than the \(limit) allowed.")))
            conclude()
            return nil
        }
    }

    // MARK: The app's side

    /// The next message, as soon as something of it has come; `nil` once the connection has ended in order.
    func nextFragmentedMessage(limit: ByteCount) async throws -> FragmentedMessage? {
        if handler != nil {
            throw WebSocketError(.alreadyReceiving, message: "A synchronous handler receives from this connection.")
        }
        // Before anything is changed: who is receiving must not notice.
        try checkNobodyReceives()
        let streams = receivePieces(limit: limit)
        streams.messageNumber += 1
        streams.isGathering = false
        streams.inbox.skip()
        // What came before the connection was switched over is the first to be read.
        if !streams.inbox.isReading, let message = takeMessage() { streams.inbox.prepend(message) }
        while true {
            streams.inbox.skip()
            if let kind = streams.inbox.beginMessage() {
                return FragmentedMessage(kind: kind, socket: self, number: streams.messageNumber)
            }
            refillPieces(streams)
            guard try await waitForPiece(streams) else {
                // Not even its beginning was given: it came before the connection was switched over.
                if session.endedWithinMessage && !streams.inbox.isReading { throw endedWithinMessage() }
                return nil
            }
        }
    }

    /// The next piece of that message; `nil` once it is complete.
    func nextPiece(of number: UInt64) async throws -> [UInt8]? {
        guard let streams else { return nil }
        while true {
            guard number == streams.messageNumber else {
                throw WebSocketError(.messageOver, message: "Another message was asked for: this one was skipped.")
            }
            guard streams.inbox.isReading else { return nil }
            if let item = streams.inbox.takeItem() {
                refillPieces(streams)
                if !item.bytes.isEmpty { return item.bytes }
            } else if try await !waitForPiece(streams) {
                throw endedWithinMessage()
            }
        }
    }

    /// Waits until there is a piece.
    ///
    /// - Returns: false if none will come, as the connection has ended in order.
    private func waitForPiece(_ streams: PieceTraffic) async throws -> Bool {
        if !streams.inbox.isEmpty { return true }
        let id = waiters.nextID()
        try await waitOnLoop(id: id, isolation: self) { waiter in
            do {
                if try mustWaitForPiece(streams) {
                    waiters.receive(waiter)
                } else {
                    waiter.resume(returning: ())
                }
            } catch {
                waiter.resume(throwing: error)
            }
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancelReceiver(id) } }
        }
        return !streams.inbox.isEmpty || ending.isAttached
    }

    private func mustWaitForPiece(_ streams: PieceTraffic) throws -> Bool {
        try checkNobodyReceives()
        if inbox.isAhead { refillPieces(streams) }
        if !streams.inbox.isEmpty { return false }
        if ending.cause != nil { settle() }
        if !ending.isAttached && !inbox.isAhead {
            try endOfMessages()
            return false
        }
        try Task.checkCancellation()
        if inbox.isAhead { planRest() }
        return true
    }

    /// Also where the connection was closed in order: its end is no end of a message.
    private func endedWithinMessage() -> WebSocketError {
        WebSocketError(
            .closed,
            message: "The connection was closed in the middle of a message: \(session.report).",
            closeReport: session.report
        )
    }

    // MARK: Messages of any length

    /// The messages as they arrive, each in pieces, whatever its length.
    ///
    /// See ``fragments(limit:)``; without a limit.
    public nonisolated var fragments: Fragments { Fragments(socket: self, limit: .unlimited) }

    /// The messages as they arrive, each in pieces.
    ///
    /// At most `MessageLimits.inboxBytes` and one read of the socket wait for the app, compressed or not; while the app is slow,
    /// reading stops and the peer is slowed down. `MessageLimits.messageSize` and `MessageLimits.frameSize` don't hold, and
    /// `MessageLimits.fragments` is the most fragments of a message without payload. Asking for the next message skips what is
    /// left of the one before.
    ///
    /// The first ask switches the connection over, for messages that begin from then on: one that has begun is put together
    /// under `MessageLimits.messageSize` first, and given in one piece. A server's handler that asks before its first wait misses
    /// none; a client sets ``WebSocketOptions/streamsMessages`` to be sure of the first. From then on
    /// ``receive()`` and ``messages`` put the next message together themselves, under `MessageLimits.messageSize`.
    ///
    /// Ends when the connection is closed in order (1000, 1001 or without a code), and throws when it isn't. One task at a
    /// time. All that is thrown is a ``WebSocketError``, also by the pieces; cancelling is ``WebSocketError/Code/cancelled``,
    /// and loses nothing. A connection with a synchronous handler gives all messages to that, and asking is
    /// ``WebSocketError/Code/alreadyReceiving``.
    ///
    /// - Parameter limit: the longest message, in bytes; a longer one fails the connection with 1009.
    /// - Returns: the messages.
    public nonisolated func fragments(limit: ByteCount) -> Fragments { Fragments(socket: self, limit: limit) }

    /// The messages of a connection, each in pieces; iterated by one task at a time.
    public struct Fragments: AsyncSequence, Sendable {
        let socket: WebSocket
        let limit: ByteCount

        /// Waits for one message after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let socket: WebSocket
            let limit: ByteCount

            /// The next message, as soon as something of it has come; `nil` once the connection has ended in order.
            public mutating func next() async throws(WebSocketError) -> FragmentedMessage? {
                try await next(isolation: nil)
            }

            /// The next message, as soon as something of it has come; `nil` once the connection has ended in order.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(WebSocketError) -> FragmentedMessage? {
                do {
                    return try await socket.nextFragmentedMessage(limit: limit)
                } catch {
                    throw WebSocketError(endOfWait: error)
                }
            }
        }

        /// Begins to iterate.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(socket: socket, limit: limit) }
    }
}

/// A message that is read in pieces, as they come (RFC 6455 section 5.4).
///
/// Its pieces make up its payload; they have at most 64 KiB as a rule, and where they are cut means nothing, whatever the
/// peer's frames were. Those of a text are cut between characters' scalars, so each is UTF-8 by itself, checked:
/// `String(decoding: piece, as: UTF8.self)`. Breaking off is allowed: the next message skips the rest.
public struct FragmentedMessage: AsyncSequence, Sendable {
    /// Text or binary.
    public let kind: Message.Kind
    let socket: WebSocket
    let number: UInt64

    /// Waits for one piece after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let socket: WebSocket
        let number: UInt64

        /// The next piece; `nil` once the message is complete.
        ///
        /// Cancelling ends the wait at once, and loses nothing.
        ///
        /// - Throws: ``WebSocketError`` with what ended the connection in the middle of the message;
        ///   ``WebSocketError/Code/messageOver`` once another was asked for; ``WebSocketError/Code/cancelled``.
        public mutating func next() async throws(WebSocketError) -> [UInt8]? {
            try await next(isolation: nil)
        }

        /// The next piece; `nil` once the message is complete.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(WebSocketError) -> [UInt8]? {
            do {
                return try await socket.nextPiece(of: number)
            } catch {
                throw WebSocketError(endOfWait: error)
            }
        }
    }

    /// Begins to iterate, or goes on where another iterator has stopped.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(socket: socket, number: number) }
}
