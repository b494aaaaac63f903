// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWebSockets
import DuplexWire

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Values in JSON, without a view of the connection.

extension WebSocket {
    /// The messages as values, of JSON, as they arrive.
    ///
    /// ```swift
    /// for try await price in socket.messages(of: Price.self) { print(price) }
    /// ```
    ///
    /// Ends and throws as `messages` does, and throws a `WebSocketError` with `decodingFailed` for a message that can't be
    /// decoded: it ends a `for` loop, and the connection stays open. Iterated by one task at a time.
    ///
    /// - Parameters:
    ///   - type: the type of the values; each has a message of its own, a text or bytes.
    ///   - undecodable: what happens to messages that can't be decoded. Default: they are reported.
    ///   - decoder: makes the decoder of each message, with the settings that it is to have. Default:
    ///     ``JSONDefaults/makeDecoder()``, with dates in ISO 8601, as of ``JSONCodec``.
    /// - Returns: the values.
    public nonisolated func messages<Value: Decodable & Sendable>(
        of type: Value.Type,
        undecodable: UndecodablePolicy = .report,
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDefaults.makeDecoder() }
    ) -> some AsyncSequence<Value, WebSocketError> & Sendable {
        messages(of: type, codec: JSONCodec<Value, String>(decoder: decoder), undecodable: undecodable)
    }

    /// Sends a value as a text in JSON.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - encoder: makes the encoder, with the settings that it is to have. Default: ``JSONDefaults/makeEncoder()``, with
    ///     dates in ISO 8601, as of ``JSONCodec``.
    /// - Throws: `WebSocketError` with `encodingFailed`, with nothing sent; else as `send(_:)` with a message.
    public nonisolated func send(
        json value: some Encodable & Sendable,
        encoder: @Sendable () -> JSONEncoder = { JSONDefaults.makeEncoder() }
    ) async throws {
        try await send(Message(json: value, encoder()))
    }
}

extension ReconnectingWebSocket {
    /// The messages of all connections as values, of JSON.
    ///
    /// ```swift
    /// for try await price in client.messages(of: Price.self) { print(price) }
    /// ```
    ///
    /// Ends and throws as `messages` does, and throws a `WebSocketError` with `decodingFailed` for a message that can't be
    /// decoded: it ends a `for` loop, and the client goes on. Iterated by one task at a time; use this, `messages` or
    /// `sessions`.
    ///
    /// - Parameters:
    ///   - type: the type of the values; each has a message of its own, a text or bytes.
    ///   - undecodable: what happens to messages that can't be decoded; to close means to close the client. Default: they
    ///     are reported.
    ///   - decoder: makes the decoder of each message, with the settings that it is to have. Default:
    ///     ``JSONDefaults/makeDecoder()``, with dates in ISO 8601, as of ``JSONCodec``.
    /// - Returns: the values.
    public nonisolated func messages<Value: Decodable & Sendable>(
        of type: Value.Type,
        undecodable: UndecodablePolicy = .report,
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDefaults.makeDecoder() }
    ) -> some AsyncSequence<Value, WebSocketError> & Sendable {
        messages(of: type, codec: JSONCodec<Value, String>(decoder: decoder), undecodable: undecodable)
    }

    /// Takes a value to be sent as a text in JSON, on the connection that is open or on the next one.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - encoder: makes the encoder, with the settings that it is to have. Default: ``JSONDefaults/makeEncoder()``, with
    ///     dates in ISO 8601, as of ``JSONCodec``.
    /// - Throws: `WebSocketError` with `encodingFailed`, with nothing taken; else as `send(_:)` with a message.
    public nonisolated func send(
        json value: some Encodable & Sendable,
        encoder: @Sendable () -> JSONEncoder = { JSONDefaults.makeEncoder() }
    ) async throws {
        try await send(Message(json: value, encoder()))
    }
}

extension Message {
    /// Makes a text of a value in JSON.
    fileprivate init(json value: some Encodable, _ encoder: JSONEncoder) throws(WebSocketError) {
        do {
            self = .text(String(decoding: try encoder.encode(value), as: UTF8.self))
        } catch {
            throw WebSocketError(.encodingFailed, message: "The value can't be sent: \(error).", cause: error)
        }
    }
}
