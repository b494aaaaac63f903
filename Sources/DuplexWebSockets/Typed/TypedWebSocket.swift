// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// A WebSocket whose messages are values, by a codec.
///
/// A view: the connection stays what it is, and can be used beside it. Values are made and unmade in the task that sends or
/// receives, one message at a time, under `MessageLimits.messageSize`. All that it throws is a ``WebSocketError``.
public struct TypedWebSocket<Incoming: Sendable, Outgoing: Sendable>: Sendable {
    /// The connection below.
    public let socket: WebSocket
    private let coding: ValueCoding<Incoming, Outgoing>

    /// Makes a view of a connection.
    ///
    /// - Parameters:
    ///   - socket: the connection.
    ///   - codec: makes messages of values and values of messages.
    ///   - undecodable: what happens to messages that can't be decoded. Default: they are reported.
    public init(
        _ socket: WebSocket,
        codec: some MessageCodec<Incoming, Outgoing>,
        undecodable: UndecodablePolicy = .report
    ) {
        self.socket = socket
        coding = ValueCoding(codec: codec, undecodable: undecodable)
    }

    /// Sends a value as a message; see ``WebSocket/send(_:)-(Message)``.
    ///
    /// - Parameter value: the value.
    /// - Throws: ``WebSocketError`` with ``WebSocketError/Code/encodingFailed``, with nothing sent; else as
    ///   ``WebSocket/send(_:)-(Message)``, and with ``WebSocketError/Code/cancelled`` when the task was cancelled.
    public func send(_ value: Outgoing) async throws(WebSocketError) {
        let message = try coding.encode(value)
        do {
            try await socket.send(message)
        } catch {
            throw WebSocketError(endOfWait: error)
        }
    }

    /// Waits for the next value; see ``WebSocket/receive()``.
    ///
    /// - Returns: the value.
    /// - Throws: ``WebSocketError`` with ``WebSocketError/Code/decodingFailed``; the next call goes on after it unless the policy
    ///   is to close. Else as ``WebSocket/receive()``, and with ``WebSocketError/Code/cancelled`` when the task was cancelled.
    public func receive() async throws(WebSocketError) -> Incoming {
        while true {
            if let value = try await decode(receiveMessage()) { return value }
        }
    }

    private func receiveMessage() async throws(WebSocketError) -> Message {
        do {
            return try await socket.receive()
        } catch {
            throw WebSocketError(endOfWait: error)
        }
    }

    /// The values as they arrive; ends as ``WebSocket/messages`` does, and throws as ``receive()`` does.
    ///
    /// A message that can't be decoded ends a `for` loop with its error. To go on, ask for the next by hand, or iterate
    /// again, or choose ``UndecodablePolicy/skip(_:)``. Iterated by one task at a time.
    @inlinable
    public var messages: some AsyncSequence<Incoming, WebSocketError> & Sendable { Messages(typed: self) }

    /// The values of a connection.
    ///
    /// An app's compiler sees the type, so that its loops call it directly.
    @usableFromInline
    struct Messages: AsyncSequence, Sendable {
        let typed: TypedWebSocket

        @usableFromInline
        init(typed: TypedWebSocket) {
            self.typed = typed
        }

        @usableFromInline
        struct AsyncIterator: AsyncIteratorProtocol {
            let typed: TypedWebSocket

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
        while let message = try await socket.nextMessageOrError() {
            if let value = try await decode(message) { return value }
        }
        return nil
    }

    private func decode(_ message: Message) async throws(WebSocketError) -> Incoming? {
        try await coding.decode(message) { code, reason in await socket.beginClose(code, reason: reason) }
    }
}

extension WebSocket {
    /// The messages as values as they arrive, by a codec.
    ///
    /// Ends and throws as ``messages`` does, and throws a ``WebSocketError`` with
    /// ``WebSocketError/Code/decodingFailed`` for a message that can't be decoded: it ends a `for` loop, and the connection
    /// stays open. Iterate again to go on reading, or choose ``UndecodablePolicy/skip(_:)``. Iterated by one task at a time.
    ///
    /// - Parameters:
    ///   - type: the type of the values.
    ///   - codec: makes values of messages; `DuplexFoundation` has an overload without it, for JSON.
    ///   - undecodable: what happens to messages that can't be decoded. Default: they are reported.
    /// - Returns: the values.
    public nonisolated func messages<Value: Sendable, Other: Sendable>(
        of type: Value.Type,
        codec: some MessageCodec<Value, Other>,
        undecodable: UndecodablePolicy = .report
    ) -> some AsyncSequence<Value, WebSocketError> & Sendable {
        TypedWebSocket(self, codec: codec, undecodable: undecodable).messages
    }
}
