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
    /// connection; closing it there closes the client. Iterated by one task at a time.
    ///
    /// All that is thrown is a ``WebSocketError``. An error of the caller's own, of ``ReconnectOptions/configure`` or of
    /// `onOpen`, is the cause of one with ``WebSocketError/Code/configurationFailed``. Cancelling the task ends the wait with
    /// ``WebSocketError/Code/cancelled``; the client goes on.
    public nonisolated var sessions: some AsyncSequence<WebSocket, WebSocketError> & Sendable { Sessions(client: self) }

    /// The messages of all connections, one after the other, as if of one socket.
    ///
    /// Ends and throws as ``sessions`` does. Use one of the two. Iterated by one task at a time.
    @inlinable
    public nonisolated var messages: some AsyncSequence<Message, WebSocketError> & Sendable { Messages(client: self) }

    private struct Sessions: AsyncSequence, Sendable {
        let client: ReconnectingWebSocket

        struct AsyncIterator: AsyncIteratorProtocol {
            let client: ReconnectingWebSocket

            mutating func next(isolation actor: (any Actor)?) async throws(WebSocketError) -> WebSocket? {
                try await client.nextSession()
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(client: client) }
    }

    /// The messages of a client.
    ///
    /// An app's compiler sees the type, so that its loops call it directly.
    @usableFromInline
    struct Messages: AsyncSequence, Sendable {
        let client: ReconnectingWebSocket

        @usableFromInline
        init(client: ReconnectingWebSocket) {
            self.client = client
        }

        @usableFromInline
        struct AsyncIterator: AsyncIteratorProtocol {
            @usableFromInline let client: ReconnectingWebSocket

            @inlinable
            mutating func next(isolation actor: isolated (any Actor)?) async throws(WebSocketError) -> Message? {
                try await client.nextMessage()
            }
        }

        @usableFromInline
        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(client: client) }
    }
}
