// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import DuplexWire

/// Who sent a request: what is the same for all requests of a connection.
public final class Client: Sendable {
    /// The address of the peer, or of the one that a proxy speaks for by the PROXY protocol.
    public let remoteAddress: SocketAddress?
    /// What secures the connection, with the certificates that the client has shown; `nil` in the clear.
    public var tls: TLSConnection? { if case .secured(let connection) = security { connection } else { nil } }
    private let security: Security
    let entrance: Entrance
    /// Where its connection has its time from.
    private let clock: LoopClock

    private enum Security {
        case none
        // Elsewhere: those in the clear have no place for it.
        indirect case secured(TLSConnection)
    }

    init(
        remoteAddress: SocketAddress?,
        tls: TLSConnection?,
        entrance: Entrance = .none,
        clock: LoopClock = .system
    ) {
        self.remoteAddress = remoteAddress
        security = tls.map { .secured($0) } ?? .none
        self.entrance = entrance
        self.clock = clock
    }

    /// The address that the server listens on and the connection came by; nil in a test without a port.
    public var listenerAddress: SocketAddress? { entrance.address }

    /// The time as its connection has it.
    var now: Instant { clock.now() }
}
