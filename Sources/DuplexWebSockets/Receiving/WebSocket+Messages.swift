// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire

extension WebSocket {
    /// The messages as they arrive, whole.
    ///
    /// The sequence ends when the connection is closed in order (1000, 1001 or without a code), and throws otherwise.
    /// When the app is slow, the inbox fills (`MessageLimits.inboxMessages`), reading stops, and the peer is slowed
    /// down.
    ///
    /// All that is thrown is a ``WebSocketError``. Cancelling the task ends the wait with
    /// ``WebSocketError/Code/cancelled``; the connection stays open and no message is lost.
    public nonisolated var messages: Messages {
        Messages(socket: self)
    }

    /// The messages of a connection; iterated by one task at a time.
    public struct Messages: AsyncSequence, Sendable {
        let socket: WebSocket

        /// Waits for one message after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            @usableFromInline let socket: WebSocket

            /// The next message; `nil` once the connection has ended in order.
            @inlinable
            public mutating func next() async throws(WebSocketError) -> Message? {
                try await socket.nextMessageOrError()
            }

            /// The next message, without a hop on the connection's loop; `nil` once the connection has ended in order.
            @inlinable
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(WebSocketError) -> Message? {
                try await socket.nextMessageOrError()
            }
        }

        /// Begins to iterate.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(socket: socket)
        }
    }
}

extension WebSocket {
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

    /// The same, with what ends it in one type.
    ///
    /// Each wait has its own end, and that is a function apart: if they met in one place, an idle connection would hold room
    /// for the error between them.
    @inlinable
    @inline(__always)
    func nextMessageOrError() async throws(WebSocketError) -> Message? {
        if let message = takeMessage() { return message }
        if isHandlerTaskCurrent {
            do {
                // Resumed once, as every ``Waiter`` is.
                try unsafe await withUnsafeThrowingContinuation(isolation: self) { unsafe wait($0) }
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
        return takeDelivered()
    }

    @inline(never)
    @usableFromInline
    func endOfWait(_ error: any Error) throws(WebSocketError) -> Message? {
        throw WebSocketError(endOfWait: error)
    }

    @usableFromInline var isHandlerTaskCurrent: Bool { handlerTask.isCurrent }

    @usableFromInline
    func wait(_ continuation: UnsafeContinuation<Void, any Error>) {
        wait(unsafe Waiter(id: Self.handlerWait, continuation))
    }
}
