// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWebSockets

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension WebSocket {
    /// Sends a binary message; as `send(_:)` with an array, and with a copy of the bytes before.
    ///
    /// - Throws: as `send(_:)` with an array.
    public nonisolated func send(_ data: Data) async throws {
        try await send([UInt8](data))
    }
}
