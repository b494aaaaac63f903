// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import DuplexWire
import Logging

extension Request {
    /// The connection of a request, the same for all requests that come by it.
    public final class Connection: Sendable {
        /// The address of the peer, or of the one that a proxy speaks for by the PROXY protocol.
        package let remoteAddress: SocketAddress?
        /// What secures the connection, with the certificates that the client has shown; `nil` in the clear.
        package var tls: TLSInfo? { if case .known(let tls, _) = peer { tls } else { nil } }
        /// Which process sent the request, where it came by a Unix socket: its number, user and group; `nil` for other connections.
        ///
        /// Behind a proxy it is the proxy's process.
        package var peerCredentials: PeerCredentials? { if case .known(_, let peer) = peer { peer } else { nil } }
        private let peer: Peer
        let entrance: Entrance
        /// The loop of its connection, which has its time; nil for a request that a test makes.
        private let loop: EventLoop?

        private enum Peer {
            case unknown
            // Elsewhere: those over TCP in the clear have no place for it.
            indirect case known(TLSInfo?, PeerCredentials?)
        }

        init(
            remoteAddress: SocketAddress?,
            tls: TLSInfo?,
            peerCredentials: PeerCredentials? = nil,
            entrance: Entrance = .none,
            loop: EventLoop? = nil
        ) {
            self.remoteAddress = remoteAddress
            peer = tls == nil && peerCredentials == nil ? .unknown : .known(tls, peerCredentials)
            self.entrance = entrance
            self.loop = loop
        }

        /// The address that the server listens on and the connection came by; nil in a test without a port.
        public var listenerAddress: SocketAddress? { entrance.address }

        /// What the loop of its connection owns; nil off that loop's thread.
        var core: LoopCore? {
            guard let loop, loop.isCurrent else { return nil }
            return loop.core
        }

        /// The time as its connection has it.
        var now: Instant { loop?.clock.now() ?? .now() }

        /// Sleeps by the server's clock, which a test can advance with `WebServer.test`.
        ///
        /// ```swift
        /// server.get("/news") { request in
        ///     while feed.isEmpty { try await request.connection.sleep(for: .seconds(1)) }
        ///     return feed.text
        /// }
        /// ```
        ///
        /// - Parameter duration: how long; a negative one is taken as zero.
        /// - Throws: `CancellationError` when the task is cancelled, such as a handler's whose client has disconnected.
        public func sleep(for duration: Duration) async throws {
            guard let loop else { return try await Task.sleep(for: duration.forSleeping) }
            try await loop.sleep(until: now.advanced(by: duration))
        }
    }
}

/// The listener that a connection came by, as far as its requests are concerned.
final class Entrance: Sendable {
    /// What is listened on; nil in a test that has no port.
    let address: SocketAddress?
    /// The hosts that are answered for there.
    let hosts: AllowedHosts
    /// Makes the loggers of its requests, ``Request/logger``; nil in a test.
    let makeLogger: (@Sendable (RequestHead) -> Logger)?
    /// Whether a client that has ended its side is probed while it waits for a response: the app hasn't said otherwise.
    let probesClients: Bool
    /// Whether a client is given up that acknowledges nothing of a response without an end: the app hasn't said otherwise.
    let givesUpClients: Bool

    /// That of a request that a test makes.
    static let none = Entrance(nil, hosts: AllowedHosts(nil, isLocal: false))

    init(
        _ address: SocketAddress?,
        hosts: AllowedHosts,
        makeLogger: (@Sendable (RequestHead) -> Logger)? = nil,
        probesClients: Bool = false,
        givesUpClients: Bool = false
    ) {
        self.address = address
        self.hosts = hosts
        self.makeLogger = makeLogger
        self.probesClients = probesClients
        self.givesUpClients = givesUpClients
    }
}

extension SocketAddress {
    /// What of an address is counted together: an IPv4 address, or the network of an IPv6 address, of which whoever has one
    /// has them all (RFC 4291 section 2.5.4); empty for Unix sockets.
    var network: [UInt8] {
        let bytes = unmapped.bytes
        return bytes.count == 16 ? Array(bytes[..<8]) : bytes
    }

    /// Whether it is counted: not this machine's own, where a proxy may stand for many.
    var isCounted: Bool { family != .unix && !isLoopback }

    /// The network where it is counted.
    var countedNetwork: [UInt8]? { isCounted ? network : nil }
}
