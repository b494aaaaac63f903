// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Socket {
    /// Reads what there is, and waits only while there is nothing; as `read(upTo:timeout:extend:)`.
    ///
    /// - Parameters:
    ///   - count: the most bytes to take. Default: 64 KiB.
    ///   - timeout: how long to wait at most. Default: no limit.
    ///   - extend: asked when the time is over, and may give more.
    /// - Returns: 1 to `count` bytes, or `nil` once the peer has finished writing.
    /// - Throws: as `read(upTo:timeout:extend:)`.
    public nonisolated func readData(
        upTo count: Int = 65_536,
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil
    ) async throws -> Data? {
        try await read(upTo: count, timeout: timeout, extend: extend).map { Data($0) }
    }

    /// Reads that many bytes; as `read(exactly:timeout:extend:)`.
    ///
    /// - Parameters:
    ///   - count: how many; 0 gives none at once.
    ///   - timeout: how long to wait at most. Default: no limit.
    ///   - extend: asked when the time is over, and may give more.
    /// - Returns: `count` bytes.
    /// - Throws: as `read(exactly:timeout:extend:)`.
    public nonisolated func readData(
        exactly count: Int,
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil
    ) async throws -> Data {
        Data(try await read(exactly: count, timeout: timeout, extend: extend))
    }

    /// Reads up to a delimiter; as `read(until:limit:timeout:extend:)`.
    ///
    /// - Parameters:
    ///   - delimiter: one byte or more.
    ///   - limit: the most bytes to take, the delimiter among them. Default: 64 KiB.
    ///   - timeout: how long to wait at most. Default: no limit.
    ///   - extend: asked when the time is over, and may give more.
    /// - Returns: the bytes with the delimiter, or `nil` once the peer has finished writing and nothing is left.
    /// - Throws: as `read(until:limit:timeout:extend:)`.
    public nonisolated func readData(
        until delimiter: Data,
        limit: ByteCount = .kibibytes(64),
        timeout: Duration? = nil,
        extend: TimeoutExtension? = nil
    ) async throws -> Data? {
        try await read(until: [UInt8](delimiter), limit: limit, timeout: timeout, extend: extend).map { Data($0) }
    }
}

extension Datagram {
    /// Makes a datagram to send, of a copy of the bytes.
    ///
    /// - Parameters:
    ///   - data: what it carries.
    ///   - peer: where it goes; `nil` on a connected socket.
    ///   - localAddress: the address of this machine that it comes from; `nil` for the system to choose.
    ///   - interface: the number of the interface that it goes over; 0 for the system to choose.
    public init(
        _ data: Data,
        to peer: SocketAddress? = nil,
        from localAddress: SocketAddress? = nil,
        interface: UInt32 = 0
    ) {
        self.init([UInt8](data), to: peer, from: localAddress, interface: interface)
    }

    /// A copy of its bytes.
    public var data: Data { Data(bytes) }
}
