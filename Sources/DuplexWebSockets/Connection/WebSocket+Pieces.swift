// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
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
            guard let event = nextEvent(in: &bytes, at: &position, now) else { break }
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

    private static func bytes(_ payload: WebSocketSession.Payload, _ input: RawSpan) -> [UInt8] {
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
            end(.violation(WebSocketProtocolError(.messageTooLarge, "A message is longer than the \(limit) allowed.")))
            conclude()
            return nil
        }
    }

    // MARK: The app's side

    /// The next message, as soon as something of it has come; `nil` once the connection has ended in order.
    func nextStreamedMessage(limit: ByteCount) async throws -> StreamedMessage? {
        if handler.isPresent {
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
                return StreamedMessage(kind: kind, socket: self, number: streams.messageNumber)
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
                throw WebSocketError(.messageEnded, message: "Another message was asked for: this one was skipped.")
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
        let id = SocketWaiters.nextID()
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
    /// See ``streamedMessages(limit:)``; without a limit.
    @inlinable
    public nonisolated var streamedMessages: some AsyncSequence<StreamedMessage, WebSocketError> & Sendable {
        StreamedMessages(socket: self, limit: .unlimited)
    }

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
    @inlinable
    public nonisolated func streamedMessages(
        limit: ByteCount
    ) -> some AsyncSequence<StreamedMessage, WebSocketError> & Sendable {
        StreamedMessages(socket: self, limit: limit)
    }

    /// The messages of a connection, each in pieces.
    ///
    /// An app's compiler sees the type, so that its loops call it directly.
    @usableFromInline
    struct StreamedMessages: AsyncSequence, Sendable {
        let socket: WebSocket
        let limit: ByteCount

        @usableFromInline
        init(socket: WebSocket, limit: ByteCount) {
            self.socket = socket
            self.limit = limit
        }

        @usableFromInline
        struct AsyncIterator: AsyncIteratorProtocol {
            let socket: WebSocket
            let limit: ByteCount

            @usableFromInline
            mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(WebSocketError) -> StreamedMessage? {
                do {
                    return try await socket.nextStreamedMessage(limit: limit)
                } catch {
                    throw WebSocketError(endOfWait: error)
                }
            }
        }

        @usableFromInline
        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(socket: socket, limit: limit) }
    }
}

/// A message that is read in pieces, as they come (RFC 6455 section 5.4).
///
/// Its pieces make up its payload; they have at most 64 KiB as a rule, and where they are cut means nothing, whatever the
/// peer's frames were. Those of a text are cut between characters' scalars, so each is UTF-8 by itself, checked:
/// `String(decoding: piece, as: UTF8.self)`. Breaking off is allowed: the next message skips the rest.
public struct StreamedMessage: AsyncSequence, Sendable {
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
        ///   ``WebSocketError/Code/messageEnded`` once another was asked for; ``WebSocketError/Code/cancelled``.
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

/// Sends a message in pieces; see ``WebSocket/send(_:compress:_:)``.
public struct MessageWriter: Sendable {
    let socket: WebSocket
    let id: UInt64

    /// Sends a piece as a frame of its own; nothing for an empty one.
    ///
    /// Returns once it is sent or waits behind less than the high-water mark (64 KiB). Cancelling ends the wait; the
    /// piece is still sent. A peer that puts messages together may allow few frames (`MessageLimits.fragments` is 4,096
    /// here): pieces of 16 KiB or more are of use for long messages.
    ///
    /// - Parameter piece: the bytes, of an array, or of a slice or another collection; those of a text may end within a character.
    /// - Throws: ``WebSocketError``: ``WebSocketError/Code/invalidText`` for bytes that no text can have, of which
    ///   nothing is sent; ``WebSocketError/Code/messageEnded`` once the message has ended; what ended the connection;
    ///   `CancellationError`.
    public func write(_ piece: some Collection<UInt8> & Sendable) async throws {
        try await socket.writePiece([UInt8](piece), id)
    }

    /// Sends a piece of text; as bytes are.
    public func write(_ text: String) async throws {
        try await write(Array(text.utf8))
    }
}

extension WebSocket {
    /// Sends one message of any length in pieces, as they are made (RFC 6455 section 5.4).
    ///
    /// The message ends when `body` returns: then a frame without payload follows. Until then messages of others wait
    /// their turn, in order, and so do those of ``enqueue(_:_:)``; pings, pongs and closing don't. Waiting, within
    /// `body`, for a message that this connection is to send is waiting for ever.
    ///
    /// There is no way to take back a message that was begun. When `body` throws after the first piece, the connection
    /// is closed with 1011, or 1001 if it was cancelled, in the middle of the message, which the peer throws away;
    /// otherwise it would take what came for the whole. Before the first piece nothing has happened.
    ///
    /// - Parameters:
    ///   - kind: text or binary. A text must be UTF-8 as a whole.
    ///   - compress: whether to compress it if that was agreed on. Default: yes, whatever the threshold is, as its
    ///     length isn't known.
    ///   - body: writes the pieces.
    /// - Returns: what `body` returned.
    /// - Throws: what `body` threw; ``WebSocketError`` with ``WebSocketError/Code/invalidText`` for a text that ends
    ///   within a character, ``WebSocketError/Code/closed`` once either side has begun to close, or what ended the
    ///   connection; `CancellationError`.
    public nonisolated func send<Result>(
        _ kind: Message.Kind,
        compress: Bool = true,
        _ body: (MessageWriter) async throws -> Result
    ) async throws -> Result {
        let id = try await beginFragments(kind, compress)
        do {
            let result = try await body(MessageWriter(socket: self, id: id))
            try await endFragments(id)
            return result
        } catch {
            await abandonFragments(id, error)
            throw error
        }
    }

    /// Sends one message of any length whose pieces come from a sequence; see ``send(_:compress:_:)``.
    ///
    /// - Parameters:
    ///   - pieces: the payload; each element becomes a frame.
    ///   - kind: text or binary.
    ///   - compress: as in ``send(_:compress:_:)``.
    /// - Throws: as ``send(_:compress:_:)``; what the sequence threw.
    public nonisolated func send<Pieces: AsyncSequence>(
        pieces: Pieces,
        as kind: Message.Kind,
        compress: Bool = true
    ) async throws where Pieces.Element == [UInt8] {
        try await send(kind, compress: compress) { writer in
            for try await piece in pieces { try await writer.write(piece) }
        }
    }

    // MARK: The turn of a message

    /// Waits until no other message is being sent.
    private func beginFragments(_ kind: Message.Kind, _ compress: Bool) async throws -> UInt64 {
        let id = SocketWaiters.nextID()
        try await waitOnLoop(id: id) { (waiter: Waiter<Void>) in
            if !canSend || ending.cause != nil {
                waiter.resume(throwing: notOpen())
            } else if Task.isCancelled {
                waiter.resume(throwing: CancellationError())
            } else if makeStreams().writer == nil {
                beginMessage(kind, compress, id, waiter)
            } else {
                makeStreams().held.append(.writer(kind, compress: compress, waiter))
            }
        } onCancel: {
            loop.execute { _ in
                self.assumeIsolated { $0.streams?.removeWriter(id)?.resume(with: .failure(CancellationError())) }
            }
        }
        return id
    }

    private func beginMessage(_ kind: Message.Kind, _ compress: Bool, _ id: UInt64, _ waiter: Waiter<Void>) {
        makeStreams().writer = id
        session.beginMessage(kind, compress: compress)
        waiter.resume(returning: ())
    }

    fileprivate func writePiece(_ piece: [UInt8], _ id: UInt64) async throws {
        if piece.isEmpty { return }
        try writeFrame(piece, id, isLast: false)
        if channel.isAboveHighWaterMark { try await waitForRoom() }
    }

    private func writeFrame(_ piece: [UInt8], _ id: UInt64, isLast: Bool) throws {
        guard let streams, streams.writer == id else {
            throw WebSocketError(.messageEnded, message: "The message has ended.")
        }
        guard canSend else { throw notOpen() }
        let isWritten = session.writePiece(piece.span.raw, isLast: isLast) { header, payload in
            channel.write(capacity: FrameHeader.maximumSize + payload.byteCount) { output in
                session.encode(frame: header, payload, into: &output)
            }
        }
        if !isWritten { throw WebSocketError(.invalidText, message: "A text that is sent in pieces isn't UTF-8.") }
    }

    private func endFragments(_ id: UInt64) async throws {
        try writeFrame([], id, isLast: true)
        // The peer has closed, and waited for the end of this message only.
        conclude()
        releaseHeld()
        if ending.isAttached, channel.isAboveHighWaterMark { try await waitForRoom() }
    }

    /// Gives the turn away; a message of which frames were written can only be ended with the connection.
    private func abandonFragments(_ id: UInt64, _ error: any Error) {
        guard let streams, streams.writer == id else { return }
        if session.hasSentPiece {
            let code = error.isCancellation ? CloseCode.goingAway : .internalError
            streams.isEndedFromWithin = true
            beginClose(code, reason: "A message could not be completed.")
        }
        session.abandonMessage()
        releaseHeld()
    }

    // MARK: Those who wait for it

    /// Whether messages wait for the end of another.
    var isHolding: Bool { streams?.held.isEmpty == false }

    /// Keeps a message until the one that is being sent has ended.
    ///
    /// - Returns: false, as the caller is to hold back.
    func hold(_ message: Message, _ choice: Bool?, _ streams: PieceTraffic) -> Bool {
        switch message {
        case .text(let text): streams.hold(.text, Array(text.utf8), compress: choice)
        case .binary(let bytes): streams.hold(.binary, bytes, compress: choice)
        }
        return false
    }

    /// Keeps a copy of a message until the one that is being sent has ended; drops it once a close frame was sent.
    func hold(_ kind: Message.Kind, _ bytes: RawSpan, _ choice: Bool?, _ streams: PieceTraffic) -> Bool {
        if session.canSend && ending.cause == nil { streams.hold(kind, [UInt8](copying: bytes), compress: choice) }
        return false
    }

    /// Sends what has waited, up to the next message in pieces.
    private func releaseHeld() {
        guard let streams else { return }
        streams.writer = nil
        guard canSend else {
            let error = notOpen()
            for waiter in streams.dropHeld() { waiter.resume(with: .failure(error)) }
            return
        }
        guard !streams.held.isEmpty || !streams.heldSenders.isEmpty else { return }
        while streams.writer == nil, let next = streams.held.popFirst() {
            switch next {
            case .message(let kind, let bytes, let compress):
                streams.heldBytes -= bytes.count
                streams.lastReleased += 1
                write(kind, bytes.span.raw, to: channel, compress: compress)
            case .writer(let kind, let compress, let waiter): beginMessage(kind, compress, waiter.id, waiter)
            }
        }
        while let sender = streams.heldSenders.first, sender.ticket <= streams.lastReleased {
            streams.heldSenders.removeFirst()
            keepSender(sender.waiter)
        }
        if !channel.isAboveHighWaterMark { resumeSenders() }
    }

    /// Waits until less than the high-water mark waits, whoever's turn it is.
    private func waitForRoom() async throws {
        let id = SocketWaiters.nextID()
        try await waitOnLoop(id: id) { (waiter: Waiter<Void>) in
            if !ending.isAttached || channel.sendError != nil {
                waiter.resume(throwing: notOpen())
            } else if !channel.isAboveHighWaterMark {
                waiter.resume(returning: ())
            } else if Task.isCancelled {
                waiter.resume(throwing: CancellationError())
            } else {
                keepSender(waiter)
            }
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancelSender(id) } }
        }
    }
}

// A stream of bytes through a WebSocket, for what speaks over TCP otherwise.

extension WebSocket {
    /// The connection as a stream of bytes.
    public nonisolated var stream: WebSocketStream { WebSocketStream(socket: self) }
}

/// A stream of bytes in both directions, carried by binary messages whose bounds mean nothing.
///
/// Reads as ``WebSocket/streamedMessages`` does: messages of any length, in bounded memory, from the first ask on, while a
/// slow reader slows the peer down. The peer ends its side by closing with 1000. A WebSocket has no half-close: who
/// ends its own side gets nothing more either. One task reads at a time; any number may write.
public struct WebSocketStream: AsyncSequence, Sendable {
    let socket: WebSocket

    /// The most bytes of one message: 64 KiB, which every peer takes.
    static let messageSize = 64 * 1_024

    /// Reads what there is, at least one byte.
    ///
    /// Cancelling ends the wait, and loses nothing.
    ///
    /// - Returns: the bytes; `nil` once the stream has ended: the connection was closed with 1000, between two
    ///   messages.
    /// - Throws: ``WebSocketError``: what ended the connection otherwise, also with 1001 or without a code, as more was
    ///   to come then; ``WebSocketError/Code/protocolViolation`` for a text, which closes the connection with 1003;
    ///   `CancellationError`.
    public func read() async throws -> [UInt8]? {
        try await socket.readStream()
    }

    /// Reads just so many bytes.
    ///
    /// What came before an error, or before the end of the stream, stays for the next read.
    ///
    /// - Parameter count: how many; none returns at once.
    /// - Returns: the bytes.
    /// - Throws: as ``read()``, and ``WebSocketError/Code/closed`` if the stream ends before.
    public func read(exactly count: Int) async throws -> [UInt8] {
        try await socket.readStream(exactly: count)
    }

    /// Writes bytes, in messages of at most 64 KiB.
    ///
    /// Returns once they are sent or wait behind less than the high-water mark (64 KiB). Writes of several tasks stay
    /// whole up to 64 KiB, and may be mixed beyond. Cancelling between two messages leaves the rest unsent.
    ///
    /// - Parameter bytes: the bytes, of an array, or of a slice or another collection; none sends nothing.
    /// - Throws: as ``WebSocket/send(_:)-(Message)``.
    public func write(_ bytes: some Collection<UInt8> & Sendable) async throws {
        let bytes = [UInt8](bytes)
        if bytes.count <= Self.messageSize {
            if !bytes.isEmpty { try await socket.send(.binary(bytes)) }
            return
        }
        var start = 0
        while start < bytes.count {
            let end = Swift.min(start + Self.messageSize, bytes.count)
            try await socket.send(.binary(Array(bytes[start..<end])))
            start = end
        }
    }

    /// Ends the stream after what was written: closes the connection with 1000, as ``WebSocket/close(code:reason:)``
    /// does.
    ///
    /// - Returns: how the connection ended.
    @discardableResult
    public func finish() async -> CloseReport {
        await socket.close()
    }

    /// Reads what there is, again and again.
    ///
    /// All that is thrown is a ``WebSocketError``; cancelling is ``WebSocketError/Code/cancelled``.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let stream: WebSocketStream

        /// What ``WebSocketStream/read()`` returns.
        public mutating func next() async throws(WebSocketError) -> [UInt8]? {
            try await next(isolation: nil)
        }

        /// What ``WebSocketStream/read()`` returns.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(WebSocketError) -> [UInt8]? {
            do {
                return try await stream.read()
            } catch {
                throw WebSocketError(endOfWait: error)
            }
        }
    }

    /// Begins to iterate, or goes on where another iterator has stopped.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }
}

extension WebSocket {
    fileprivate func readStream() async throws -> [UInt8]? {
        let streams = makeStreams()
        if !streams.streamRest.isEmpty {
            defer { streams.streamRest = [] }
            return streams.streamRest
        }
        return try await readPiece(streams)
    }

    private func readPiece(_ streams: PieceTraffic) async throws -> [UInt8]? {
        while true {
            if streams.inbox.isReading, let piece = try await nextPiece(of: streams.messageNumber) { return piece }
            guard let message = try await nextStreamedMessage(limit: .unlimited) else {
                if session.report.code == .normalClosure { return nil }
                throw notOpen()
            }
            if message.kind == .text {
                // Nobody reads it, or the next read would.
                streams.messageNumber += 1
                streams.inbox.skip()
                streams.isEndedFromWithin = true
                beginClose(.unsupportedData, reason: "A stream of bytes has no texts.")
                let text = "A text came where bytes were expected."
                throw WebSocketError(.protocolViolation, message: text, closeReport: session.report)
            }
        }
    }

    fileprivate func readStream(exactly count: Int) async throws -> [UInt8] {
        guard count > 0 else { return [] }
        let streams = makeStreams()
        while streams.streamRest.count < count {
            guard let piece = try await readPiece(streams) else {
                let held = streams.streamRest.count
                throw WebSocketError(
                    .closed,
                    message: "The stream has ended after \(held) of \(count) bytes.",
                    closeReport: session.report
                )
            }
            streams.streamRest += piece
        }
        defer { streams.streamRest.removeFirst(count) }
        return Array(streams.streamRest.prefix(count))
    }
}
