// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Chooses the proxy of a connection, if any.
package protocol ProxyPolicy: Sendable {
    /// The ways to an endpoint.
    ///
    /// - Parameter endpoint: where the connection is to lead.
    /// - Returns: the ways, or how to ask for them.
    /// - Throws: ``SocketError`` when what is configured can't be understood.
    func choice(for endpoint: Endpoint) throws(SocketError) -> ProxyChoice
}

/// What is chosen for a connection.
package enum ProxyChoice: Sendable {
    /// No proxy.
    case direct
    /// This proxy and no other way.
    case proxy(any ProxyRoute)
    /// The ways by which it may be made, the best first, by a function that blocks.
    case asking(@Sendable () throws -> [ProxyWay])
}

/// One of several ways to an endpoint.
package enum ProxyWay: Sendable {
    case direct
    case proxy(any ProxyRoute)
}

/// A proxy, and how to speak with it.
package protocol ProxyRoute: Sendable {
    /// Where the proxy is.
    var endpoint: Endpoint { get }
    /// How the connection to the proxy itself is secured, where its endpoint asks for that.
    var tls: TLSOptions { get }
    /// Whether names are looked up on this side.
    var resolvesNames: Bool { get }
    /// The families that the proxy can be asked for by address.
    var families: AddressFamilies { get }
    /// What is to be said to have the target connected to.
    func conversation(with target: ProxyTarget) throws(SocketError) -> any ProxyConversation
}

/// What a proxy is asked to connect to.
package enum ProxyTarget: Sendable, Hashable {
    /// A name, or an address as it was written.
    case host(String, port: Int)
    /// The bytes of an address.
    case address([UInt8], text: String, port: Int)
}

/// One side's part in the conversation with a proxy: bytes in and out, and no connection of its own.
package protocol ProxyConversation: Sendable {
    /// What is sent on a new connection.
    mutating func start() -> [UInt8]
    /// How many bytes may be received without taking one that belongs to the target; at least 1.
    var wanted: Int { get }
    /// Takes bytes, and says what to do next.
    mutating func receive(_ bytes: Span<UInt8>, from position: inout Int) throws(SocketError) -> ProxyMove
    /// Takes note of the end of the stream.
    mutating func finish() throws(SocketError) -> ProxyMove
}

/// What to do next in a conversation with a proxy.
package enum ProxyMove: Sendable, Hashable {
    case wait
    case send([UInt8])
    /// Begin again on a new connection.
    case reconnect
    case established
}

extension Endpoint {
    /// The host, by name or by address, and the port; `nil` for a Unix socket.
    package var hostAndPort: (host: String, port: Int)? {
        switch target {
        case .host(let name, let port): (name, port)
        case .address(let address): address.path == nil ? (address.host, address.port) : nil
        case .unix: nil
        }
    }
}
