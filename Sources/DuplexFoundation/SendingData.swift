// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexDelegates
public import DuplexServer
public import DuplexTopics
public import DuplexWebSockets
public import DuplexWire

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// What queues messages takes data, too.

extension ReconnectingWebSocket {
    /// Sends a binary message; as `send(_:)` with an array, and with a copy of the bytes before.
    ///
    /// - Throws: as `send(_:)` with an array.
    public func send(_ data: Data) async throws {
        try await send([UInt8](data))
    }
}

extension DelegatedWebSocket {
    /// Queues a binary message; as `send(_:)` with an array, and with a copy of the bytes before.
    ///
    /// - Throws: as `send(_:)` with an array.
    public func send(_ data: Data) throws {
        try send([UInt8](data))
    }
}

extension DelegatedReconnectingWebSocket {
    /// Queues a binary message; as `send(_:)` with an array, and with a copy of the bytes before.
    ///
    /// - Throws: as `send(_:)` with an array.
    public func send(_ data: Data) throws {
        try send([UInt8](data))
    }
}

extension WebSocket {
    /// Sends a binary message; as `send(_:)` with an array, and with a copy of the bytes before.
    ///
    /// - Throws: as `send(_:)` with an array.
    public nonisolated func send(_ data: Data) async throws {
        try await send([UInt8](data))
    }
}

extension MessageWriter {
    /// Sends a piece as a frame of its own; as `write(_:)` with an array, and with a copy of the bytes before.
    ///
    /// - Throws: as `write(_:)` with an array.
    public func write(_ piece: Data) async throws {
        try await write([UInt8](piece))
    }
}

extension ResponseWriter {
    /// Writes a piece; as `write(_:)` with an array, and with a copy of the bytes before.
    ///
    /// - Throws: as `write(_:)` with an array.
    public func write(_ data: Data) async throws {
        try await write([UInt8](data))
    }
}

extension Topic {
    /// Publishes a binary message; as `publish(_:)` with an array, and with a copy of the bytes before.
    ///
    /// - Returns: what happened to it.
    @discardableResult
    public func publish(_ data: Data) -> Publication {
        publish([UInt8](data))
    }
}

extension Message {
    /// Makes a binary message, whose bytes are copied.
    public init(_ data: Data) {
        self = .binary([UInt8](data))
    }

    /// A copy of the payload: bytes, or a text in UTF-8.
    public var data: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .binary(let bytes): Data(bytes)
        }
    }
}
