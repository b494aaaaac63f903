// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

extension WebSocket {
    /// The messages as they arrive, whole.
    ///
    /// Ends when the connection is closed in order (1000, 1001 or without a code), and throws when it isn't. When the app
    /// is slow, the inbox fills (`Limits.inboxMessages`), reading stops, and the peer is slowed down.
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
            public mutating func next() async throws -> Message? {
                if let message = socket.takeReadyMessage() { return message }
                return try await socket.next()
            }

            /// The next message, without a hop on the connection's loop; `nil` once the connection has ended in order.
            @inlinable
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Message? {
                if let message = socket.takeReadyMessage() { return message }
                return try await socket.next()
            }
        }

        /// Begins to iterate.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(socket: socket)
        }
    }
}
