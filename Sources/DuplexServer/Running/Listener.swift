// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets

/// Where a server accepts connections, and how; see ``WebServer/listen(on:)``.
public struct Listener: Sendable {
    /// A TCP port, a Unix socket, or a descriptor of somebody else's.
    public var address: ListenAddress
    /// What secures the connections.
    ///
    /// Default: nil, they are in the clear. What clients offer by ALPN is answered with `http/1.1`, unless the options have
    /// protocols of their own. A request in the clear is answered with 400 and a sentence, and the connection ends.
    public var tls: TLSServerOptions?
    /// Whether connections come through a proxy that names the client.
    ///
    /// Default: they don't.
    public var proxyProtocol = ProxyProtocol.off
    /// How many connections may wait to be accepted.
    ///
    /// Default: 4,096. The system may cut it.
    public var backlog = 4_096
    /// The socket options of each connection.
    ///
    /// Without `SocketOptions.keepalive`, a client that has ended its side and waits for a response is probed by the
    /// system once it has been silent for ``WebServer/idleTimeout``, and is given up after as long again without an answer.
    public var options = SocketOptions()

    /// Makes a listener with the defaults.
    ///
    /// - Parameters:
    ///   - address: where.
    ///   - tls: what secures the connections. Default: they are in the clear.
    public init(_ address: ListenAddress, tls: TLSServerOptions? = nil) {
        self.address = address
        self.tls = tls
    }

    /// The same with what HTTP needs of TLS.
    var withProtocol: Listener {
        var listener = self
        // RFC 7301 section 6.
        if tls?.applicationProtocols.isEmpty == true { listener.tls?.applicationProtocols = ["http/1.1"] }
        return listener
    }
}
