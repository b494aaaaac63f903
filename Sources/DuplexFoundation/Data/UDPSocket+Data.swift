// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension UDPSocket {
    /// Sends a datagram to the peer of a connected socket; as `send(_:timeout:)` with an array.
    ///
    /// - Parameters:
    ///   - data: what to send, which is copied.
    ///   - timeout: how long to wait for room at most. Default: no limit.
    /// - Throws: as `send(_:timeout:)` with an array.
    public func send(_ data: Data, timeout: Duration? = nil) async throws {
        try await send([UInt8](data), timeout: timeout)
    }

    /// Sends a datagram to an address; as `send(_:to:timeout:)` with an array.
    ///
    /// - Parameters:
    ///   - data: what to send, which is copied.
    ///   - peer: where it goes.
    ///   - timeout: how long to wait for room at most. Default: no limit.
    /// - Throws: as `send(_:to:timeout:)` with an array.
    public func send(_ data: Data, to peer: SocketAddress, timeout: Duration? = nil) async throws {
        try await send([UInt8](data), to: peer, timeout: timeout)
    }
}
