// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// A client that reconnects whose messages are values, by a codec.
///
/// A view of its ``ReconnectingWebSocket/messages`` and ``ReconnectingWebSocket/send(_:)-(Message)``, as ``TypedWebSocket``
/// is of a connection; for ``ReconnectingWebSocket/sessions`` make one of those for each. What acknowledges messages
/// (``ReconnectOptions/delivery``) is asked of messages, before they are decoded. All that it throws is a
/// ``WebSocketError``.
public struct TypedReconnectingWebSocket<Incoming: Sendable, Outgoing: Sendable>: Sendable {
    /// The client below.
    public let client: ReconnectingWebSocket
    private let coding: ValueCoding<Incoming, Outgoing>

    /// Makes a view of a client.
    ///
    /// - Parameters:
    ///   - client: the client.
    ///   - codec: makes messages of values and values of messages.
    ///   - undecodable: what happens to messages that can't be decoded; to close means to close the client. Default: they
    ///     are reported.
    public init(
        _ client: ReconnectingWebSocket,
        codec: some MessageCodec<Incoming, Outgoing>,
        undecodable: UndecodablePolicy = .report
    ) {
        self.client = client
        coding = ValueCoding(codec: codec, undecodable: undecodable)
    }

    /// Takes a value to be sent as a message; see ``ReconnectingWebSocket/send(_:)-(Message)``.
    ///
    /// - Parameter value: the value.
    /// - Throws: ``WebSocketError`` with ``WebSocketError/Code/encodingFailed``, with nothing taken; with
    ///   ``WebSocketError/Code/closed`` once the client has ended; with ``WebSocketError/Code/cancelled`` when the task was
    ///   cancelled, and nothing is taken either.
    public func send(_ value: Outgoing) async throws(WebSocketError) {
        let message = try coding.encode(value)
        do {
            try await client.send(message)
        } catch {
            throw WebSocketError(endOfWait: error)
        }
    }

    /// The values of all connections; ends and throws as ``ReconnectingWebSocket/messages`` does, and with
    /// ``WebSocketError/Code/decodingFailed``.
    ///
    /// A message that can't be decoded ends a `for` loop with its error, and the client goes on. To go on reading, ask for
    /// the next by hand, or iterate again, or choose ``UndecodablePolicy/skip(_:)``. Iterated by one task at a time.
    @inlinable
    public var messages: some AsyncSequence<Incoming, WebSocketError> & Sendable { Messages(typed: self) }

    /// The values of a client.
    ///
    /// An app's compiler sees the type, so that its loops call it directly.
    @usableFromInline
    struct Messages: AsyncSequence, Sendable {
        let typed: TypedReconnectingWebSocket

        @usableFromInline
        init(typed: TypedReconnectingWebSocket) {
            self.typed = typed
        }

        @usableFromInline
        struct AsyncIterator: AsyncIteratorProtocol {
            let typed: TypedReconnectingWebSocket

            @usableFromInline
            mutating func next(isolation actor: (any Actor)?) async throws(WebSocketError) -> Incoming? {
                try await typed.nextValue()
            }
        }

        @usableFromInline
        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(typed: typed)
        }
    }

    private func nextValue() async throws(WebSocketError) -> Incoming? {
        while let message = try await client.nextMessage() {
            if let value = try await decode(message) { return value }
        }
        return nil
    }

    private func decode(_ message: Message) async throws(WebSocketError) -> Incoming? {
        try await coding.decode(message) { code, reason in await client.startClosing(code, reason: reason) }
    }
}

extension ReconnectingWebSocket {
    /// The messages of all connections as values, by a codec.
    ///
    /// Ends and throws as ``messages`` does, and throws a ``WebSocketError`` with
    /// ``WebSocketError/Code/decodingFailed`` for a message that can't be decoded: it ends a `for` loop, and the client goes
    /// on. Iterate again to go on reading, or choose ``UndecodablePolicy/skip(_:)``. Iterated by one task at a time; use
    /// this, ``messages`` or ``sessions``.
    ///
    /// - Parameters:
    ///   - type: the type of the values.
    ///   - codec: makes values of messages; `DuplexFoundation` has an overload without it, for JSON.
    ///   - undecodable: what happens to messages that can't be decoded; to close means to close the client. Default: they
    ///     are reported.
    /// - Returns: the values.
    public nonisolated func messages<Value: Sendable, Other: Sendable>(
        of type: Value.Type,
        codec: some MessageCodec<Value, Other>,
        undecodable: UndecodablePolicy = .report
    ) -> some AsyncSequence<Value, WebSocketError> & Sendable {
        TypedReconnectingWebSocket(self, codec: codec, undecodable: undecodable).messages
    }
}
