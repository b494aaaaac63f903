// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

// The connections and the messages of a client as sequences.

extension ReconnectingWebSocket {
    /// Each connection as it is made, after `onOpen`.
    ///
    /// Ends when the client was closed, or when the server closed in order for good (1000, no code); throws what the
    /// last attempt failed with when the policy gives up. Connections are made whether or not somebody reads the
    /// sequence; one that was not read before the next was open is left out. Leaving the body of a loop doesn't close a
    /// connection; closing it there closes the client.
    ///
    /// All that is thrown is a ``WebSocketError``. An error of the caller's own, of ``ReconnectOptions/configure`` or of
    /// `onOpen`, is the cause of one with ``WebSocketError/Code/configurationFailed``. Cancelling the task ends the wait with
    /// ``WebSocketError/Code/cancelled``; the client goes on.
    public nonisolated var sessions: some AsyncSequence<WebSocket, WebSocketError> & Sendable {
        Sessions(client: self)
    }

    /// The messages of all connections, one after the other, as if of one socket.
    ///
    /// Ends and throws as ``sessions`` does. Use one of the two.
    public nonisolated var messages: Messages { Messages(client: self) }

    /// The connections of a client; iterated by one task at a time.
    struct Sessions: AsyncSequence, Sendable {
        let client: ReconnectingWebSocket

        /// Waits for one connection after the other.
        struct AsyncIterator: AsyncIteratorProtocol {
            let client: ReconnectingWebSocket

            /// The next connection; `nil` once the client has ended in order.
            mutating func next() async throws(WebSocketError) -> WebSocket? {
                try await client.nextSession()
            }

            /// The next connection; `nil` once the client has ended in order.
            mutating func next(isolation actor: (any Actor)?) async throws(WebSocketError) -> WebSocket? {
                try await client.nextSession()
            }
        }

        /// Begins to iterate.
        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(client: client) }
    }

    /// The messages of a client; iterated by one task at a time.
    public struct Messages: AsyncSequence, Sendable {
        let client: ReconnectingWebSocket

        /// Waits for one message after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            @usableFromInline let client: ReconnectingWebSocket

            /// The next message; `nil` once the client has ended in order.
            @inlinable
            public mutating func next() async throws(WebSocketError) -> Message? {
                try await client.nextMessage()
            }

            /// The next message; `nil` once the client has ended in order.
            @inlinable
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(WebSocketError) -> Message? {
                try await client.nextMessage()
            }
        }

        /// Begins to iterate.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(client: client) }
    }
}
