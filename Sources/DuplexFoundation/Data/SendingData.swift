// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexDelegates
public import DuplexWebSockets

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
