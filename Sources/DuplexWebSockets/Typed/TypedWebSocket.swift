// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// A WebSocket whose messages are values, by a codec.
///
/// A view: the connection stays what it is, and can be used beside it. Values are made and unmade in the task that sends or
/// receives, one message at a time, under `MessageLimits.messageSize`.
public struct TypedWebSocket<Incoming: Sendable, Outgoing: Sendable>: Sendable {
    /// The connection below.
    public let socket: WebSocket
    private let codec: any MessageCodec<Incoming, Outgoing>
    private let undecodable: UndecodablePolicy

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
        self.codec = codec
        self.undecodable = undecodable
    }

    /// Sends a value as a message; see ``WebSocket/send(_:)-(Message)``.
    ///
    /// - Parameter value: the value.
    /// - Throws: what the codec threw, with nothing sent; else as ``WebSocket/send(_:)-(Message)``.
    public func send(_ value: Outgoing) async throws {
        try await socket.send(codec.encode(value))
    }

    /// Waits for the next value; see ``WebSocket/receive()``.
    ///
    /// - Returns: the value.
    /// - Throws: ``UndecodableMessage``; the next call goes on after it unless the policy is to close. Else as
    ///   ``WebSocket/receive()``.
    public func receive() async throws -> Incoming {
        while true {
            if let value = try await decode(socket.receive()) { return value }
        }
    }

    /// The values as they arrive; ends as ``WebSocket/messages`` does, and throws as ``receive()`` does.
    ///
    /// A message that can't be decoded ends a `for` loop with its error. To go on, ask for the next by hand, or iterate
    /// again, or choose ``UndecodablePolicy/skip(_:)``.
    public var messages: Messages { Messages(typed: self) }

    /// The values of a connection; iterated by one task at a time.
    public struct Messages: AsyncSequence, Sendable {
        let typed: TypedWebSocket

        /// Waits for one value after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let typed: TypedWebSocket

            /// The next value; `nil` once the connection has ended in order.
            public mutating func next() async throws -> Incoming? {
                while let message = try await typed.socket.nextMessage() {
                    if let value = try await typed.decode(message) { return value }
                }
                return nil
            }
        }

        /// Begins to iterate, or goes on where another iterator has stopped.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(typed: typed)
        }
    }

    /// The value of a message; `nil` if it is to be skipped.
    private func decode(_ message: Message) async throws -> Incoming? {
        do {
            return try codec.decode(message)
        } catch {
            let error = UndecodableMessage(message, cause: error)
            switch undecodable {
            case .report: throw error
            case .close(let code):
                await socket.startClosing(code, reason: "A message can't be decoded.")
                throw error
            case .skip(let tell):
                tell(error)
                return nil
            }
        }
    }
}

extension WebSocket {
    /// Begins to close and doesn't wait for the end.
    func startClosing(_ code: CloseCode, reason: String) {
        beginClose(code, reason: reason)
    }
}
