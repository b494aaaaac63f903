// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
public import DuplexWire

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Events whose data are values.

extension ServerSentEvent {
    /// Makes an event of a value in JSON.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - event: the type that a page listens for. Default: `message`.
    ///   - id: what the client names when it reconnects. Default: none.
    ///   - retry: how long the client is to wait before it reconnects. Default: as before.
    ///   - encoder: writes the JSON. Default: as of `Response(json:)`.
    /// - Throws: `EncodingError`; `EventStreamError` when the type or the id has a line end or U+0000.
    public init(
        json value: some Encodable,
        event: String? = nil,
        id: String? = nil,
        retry: Duration? = nil,
        encoder: JSONEncoder? = nil
    ) throws {
        let text = String(decoding: try (encoder ?? JSONSettings.makeEncoder()).encode(value), as: UTF8.self)
        try self.init(text, event: event, id: id, retry: retry)
    }
}

extension EventStream {
    /// Sends a value in JSON as an event.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - event: the type that a page listens for. Default: `message`.
    ///   - id: what the client names when it reconnects. Default: none.
    /// - Throws: `EncodingError`; else as `send(_:)`.
    public func send(json value: some Encodable, event: String? = nil, id: String? = nil) async throws {
        try await send(ServerSentEvent(json: value, event: event, id: id))
    }
}

extension EventFeed {
    /// Publishes a value in JSON as an event.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - event: the type that a page listens for. Default: `message`.
    ///   - id: unique among those of the feed. Default: one is made.
    /// - Returns: the id.
    /// - Throws: `EncodingError`; else as `publish(_:)`.
    @discardableResult
    public func publish(json value: some Encodable, event: String? = nil, id: String? = nil) throws -> String {
        try publish(ServerSentEvent(json: value, event: event, id: id))
    }
}
