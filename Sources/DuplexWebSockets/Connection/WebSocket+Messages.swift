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
