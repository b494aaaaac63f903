// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets

/// Two connected sockets in memory: no port, no descriptor, no system call.
///
/// They behave as sockets over TCP do: writes wait for room, ends and resets arrive, TLS and files go over them. They have
/// no addresses, unless the pair pretends some, and no options.
public struct SocketPair: Sendable {
    /// One end: what the other writes, it reads.
    public let client: Socket
    /// The other end.
    public let server: Socket
    /// The connection between them.
    public let connection: MemoryConnection

    /// Connects two sockets.
    ///
    /// - Parameters:
    ///   - group: the loops that the two live on, each on the one whose turn it is; ``TestLoop/group`` for a manual
    ///     clock.
    ///   - faults: what goes wrong on the way.
    ///   - capacity: the most bytes that wait in each direction. Default: 256 KiB.
    ///   - address: what the client pretends to be called.
    public init(
        on group: EventLoopGroup = .shared,
        faults: Faults = .none,
        capacity: ByteCount = .kibibytes(256),
        address: SocketAddress? = nil
    ) async {
        connection = MemoryConnection(faults: faults, capacity: capacity)
        client = await connection.link.socket(.near, on: group.next(), localAddress: address)
        server = await connection.link.socket(.far, on: group.next(), remoteAddress: address)
    }
}
