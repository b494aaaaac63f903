// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire

// Messages of any length in bounded memory.

extension WebSocket {
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
