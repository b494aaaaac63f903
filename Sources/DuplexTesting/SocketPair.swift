// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWebSockets
import DuplexWire

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

/// Two connected WebSockets in memory, a client and a server, as they are behind an opening handshake.
///
/// The handshake itself isn't made, so no extension is agreed on. Close both ends, or drop them.
public struct WebSocketPair: Sendable {
    /// The client's end.
    public let client: WebSocket
    /// The server's end.
    public let server: WebSocket
    /// The connection between them.
    public let connection: MemoryConnection

    /// Connects two WebSockets.
    ///
    /// - Parameters:
    ///   - options: limits and times of both.
    ///   - group: the loops that the two live on, each on the one whose turn it is; ``TestLoop/group`` for a manual
    ///     clock.
    ///   - subprotocol: what both have agreed on.
    ///   - faults: what goes wrong on the way.
    ///   - capacity: the most bytes that wait in each direction. Default: 256 KiB.
    ///   - clientHandler: a synchronous handler of the client's.
    ///   - serverHandler: a synchronous handler of the server's.
    public init(
        options: WebSocketOptions = WebSocketOptions(),
        on group: EventLoopGroup = .shared,
        subprotocol: String? = nil,
        faults: Faults = .none,
        capacity: ByteCount = .kibibytes(256),
        clientHandler: (any WebSocketHandler)? = nil,
        serverHandler: (any WebSocketHandler)? = nil
    ) async {
        connection = MemoryConnection(faults: faults, capacity: capacity)
        var setup = WebSocketSetup(role: .server, options, subprotocol, serverHandler)
        server = await connection.webSocket(.far, setup, on: group.next())
        setup = WebSocketSetup(role: .client, options, subprotocol, clientHandler)
        client = await connection.webSocket(.near, setup, on: group.next())
    }
}

extension WebSocketSetup {
    /// What options say, without a handshake.
    init(
        role: WebSocketSession.Role,
        _ options: WebSocketOptions,
        _ subprotocol: String? = nil,
        _ handler: (any WebSocketHandler)? = nil
    ) {
        self.init(
            role: role,
            limits: options.limits,
            settings: SessionSettings(
                limits: options.limits,
                pings: options.pings,
                closeTimeout: options.closeTimeout
            ),
            subprotocol: subprotocol,
            handler: handler.map { HandlerBox.make($0) }
        )
    }
}

extension MemoryConnection {
    /// Makes the WebSocket of one end, on its loop.
    func webSocket(_ side: MemoryLink.Side, _ setup: WebSocketSetup, on loop: EventLoop) async -> WebSocket {
        await loop.make { core in
            let socket = WebSocket(loop: loop, channel: link.channel(side, on: loop, core), setup: setup)
            socket.assumeIsolated { $0.start(leftover: []) }
            return socket
        }
    }
}
