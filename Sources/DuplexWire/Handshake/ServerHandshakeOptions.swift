// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What a server agrees to in a WebSocket handshake.
public struct ServerHandshakeOptions: Sendable {
    /// Chooses among the extensions that a client offers: takes the offers in the client's order, returns the answers.
    public typealias ExtensionChoice = @Sendable ([ExtensionOffer]) -> [ExtensionOffer]

    /// The subprotocols that the server speaks, the preferred one first; names that aren't tokens are never chosen.
    public var subprotocols: [String] = []
    /// Whether a client that has none of ``subprotocols`` to offer is refused.
    ///
    /// Default: false, and the connection has no subprotocol.
    public var requiresSubprotocol = false
    /// Which browsers' pages may connect.
    ///
    /// Default: those from the same host.
    public var origin = OriginPolicy.sameHost
    /// Chooses among the extensions that a client offers, such as `permessage-deflate`.
    ///
    /// Default: declines all.
    ///
    /// Answers with a name that the client hasn't offered are dropped (RFC 6455 section 9.1).
    public var chooseExtensions: ExtensionChoice = { _ in [] }
    /// How offers of permessage-deflate are answered, if ``chooseExtensions`` doesn't do it.
    ///
    /// Default: nil, which declines them.
    public var deflate: DeflateNegotiation?

    /// Makes options: no subprotocol, no extension, and pages of the same host only.
    public init() {}
}
