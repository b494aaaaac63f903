// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexSockets
public import DuplexWire

/// Sends a message in pieces; see ``WebSocket/send(_:compress:_:)``.
public struct FragmentWriter: Sendable {
    let socket: WebSocket
    let id: UInt64

    /// Sends a piece as a frame of its own; nothing for an empty one.
    ///
    /// Returns once it is sent or waits behind less than the high-water mark (64 KiB). Cancelling ends the wait; the
    /// piece is still sent. A peer that puts messages together may allow few frames (`MessageLimits.fragments` is 4,096
    /// here): pieces of 16 KiB or more are of use for long messages.
    ///
    /// - Parameter piece: the bytes; those of a text may end within a character.
    /// - Throws: ``WebSocketError``: ``WebSocketError/Code/invalidText`` for bytes that no text can have, of which
    ///   nothing is sent; ``WebSocketError/Code/messageOver`` once the message has ended; what ended the connection;
    ///   `CancellationError`.
    public func write(_ piece: [UInt8]) async throws {
        try await socket.writePiece(piece, id)
    }

    /// Sends a piece of text; see ``write(_:)-([UInt8])``.
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
        _ body: (FragmentWriter) async throws -> Result
    ) async throws -> Result {
        let id = try await beginFragments(kind, compress)
        do {
            let result = try await body(FragmentWriter(socket: self, id: id))
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
        let id = waiters.nextID()
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
            throw WebSocketError(.messageOver, message: "The message has ended.")
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
            waiters.send(sender.waiter)
        }
        if !channel.isAboveHighWaterMark { resumeSenders() }
    }

    /// Waits until less than the high-water mark waits, whoever's turn it is.
    private func waitForRoom() async throws {
        let id = waiters.nextID()
        try await waitOnLoop(id: id) { (waiter: Waiter<Void>) in
            if !ending.isAttached || channel.sendError != nil {
                waiter.resume(throwing: notOpen())
            } else if !channel.isAboveHighWaterMark {
                waiter.resume(returning: ())
            } else if Task.isCancelled {
                waiter.resume(throwing: CancellationError())
            } else {
                waiters.send(waiter)
            }
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancelSender(id) } }
        }
    }
}
