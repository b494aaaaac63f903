// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How a connection is made: its deadlines, the addresses it may use, and what looks names up.
///
/// The defaults suit a client on the Internet. All times are measured on the monotonic clock.
public struct ConnectOptions: Sendable {
    /// The deadline of the whole, from the name to the usable socket.
    ///
    /// Default: 10 s.
    ///
    /// Connecting always has one: for as good as none take `.seconds(Int64.max)`.
    /// A stage's own deadline can only make it shorter.
    public var timeout = Duration.seconds(10)
    /// The deadline of looking the name up.
    ///
    /// Default: `nil`, for that of ``timeout``.
    public var lookupTimeout: Duration?
    /// How long one address may take to answer.
    ///
    /// Default: `nil`, for that of ``timeout``.
    ///
    /// An address that takes longer is given up, and the next is tried at once.
    public var attemptTimeout: Duration?
    /// Options that are set before the socket connects.
    ///
    /// Default: small writes go out at once, and nothing else.
    ///
    /// What the system refuses makes connecting fail.
    public var socketOptions = SocketOptions()
    /// How the connection is secured, where the endpoint asks for it: ``Endpoint/tls(_:port:)`` or `tls://`.
    ///
    /// The handshake has its own deadline there, ``TLSOptions/handshakeTimeout``.
    public var tls = TLSOptions()

    /// How long an attempt is alone before the next address is tried beside it.
    ///
    /// Default: 250 ms.
    ///
    /// RFC 8305 section 8 recommends 100 ms to 2 s, and forbids less than 10 ms: what is shorter is taken as 10 ms. With
    /// zero all addresses are tried together, which loads the network and the host for little gain. An attempt that fails
    /// doesn't wait for it: the next begins at once.
    public var attemptDelay = Duration.milliseconds(250)
    /// The family that is tried first.
    ///
    /// Default: ``Preference/ipv6``.
    public var preference = Preference.ipv6
    /// The families that may be used at all.
    ///
    /// Default: both.
    ///
    /// A name's addresses of another family are passed over. Connecting fails when none is left, and when none is allowed.
    public var families = AddressFamilies.all

    /// The address or the network interface that the connection comes from.
    ///
    /// Default: `nil`, and the system chooses.
    ///
    /// Ignored for Unix sockets.
    public var localAddress: LocalHost?
    /// The port that the connection comes from, 0 to 65,535.
    ///
    /// Default: 0, and the system chooses.
    ///
    /// A port can serve one connection to the same address at a time, and can't be used again for a minute or so after this
    /// side has closed it first. Ignored for Unix sockets.
    public var localPort = 0

    /// The resolver of host names.
    ///
    /// Default: the system.
    ///
    /// It runs on the event loop of the connection, and so must not block.
    public var resolver: any Resolver = SystemResolver()

    /// Called as each stage begins and as it is over: the name, each address, the proxy, TLS.
    ///
    /// Default: `nil`, which costs nothing.
    ///
    /// The calls come one after the other, nearly always on the event loop of the connection, and so must not block.
    public var onStage: (@Sendable (StageEvent) -> Void)?

    /// By way of which machine the connection is made; `nil` for none.
    ///
    /// What proxies speak is a matter of the rules, which this room doesn't know.
    package var proxying: (any ProxyPolicy)?

    /// Makes the connection in place of the system, for tests: names, addresses and proxies don't matter then.
    ///
    /// Called on the loop of the connection.
    package var dial: (@Sendable (EventLoop, LoopCore) throws(SocketError) -> LoopBound<Channel>)?

    /// Makes the default options, with another deadline for the whole if it is given.
    ///
    /// - Parameter timeout: see ``timeout-swift.property``. Default: 10 s.
    public init(timeout: Duration = .seconds(10)) {
        self.timeout = timeout
    }

    /// Which family of addresses is tried first.
    ///
    /// The families then take turns (RFC 8305 section 4), and within each the order of the resolver holds.
    public enum Preference: Sendable, Hashable {
        /// IPv6 first, as RFC 8305 recommends.
        case ipv6
        /// IPv4 first.
        case ipv4
        /// The family of the resolver's first address first, which for the system's follows RFC 6724.
        case system
    }

    /// RFC 8305 section 8: the least delay between attempts.
    static let leastAttemptDelay = Duration.milliseconds(10)

    /// The delay between attempts as it is used; `nil` when all begin together.
    var effectiveAttemptDelay: Duration? {
        attemptDelay <= .zero ? nil : max(attemptDelay, Self.leastAttemptDelay)
    }

    /// The durations that are set here and in what belongs to these options.
    package var durations: [DurationSetting] {
        [
            DurationSetting("timeout", timeout),
            DurationSetting("lookupTimeout", optional: lookupTimeout),
            DurationSetting("attemptTimeout", optional: attemptTimeout),
            DurationSetting("attemptDelay", attemptDelay, allowsZero: true),
        ] + socketOptions.durations.within("socketOptions") + tls.durations.within("tls")
    }

    /// Finds what no connection could be made with.
    ///
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidOptions``, and with ``SocketError/Code/invalidArgument`` for a
    ///   duration.
    func check() throws(SocketError) {
        try SocketError.check(durations)
        if families.isEmpty {
            let message = "No connection can be made with both IPv4 and IPv6 switched off."
            throw SocketError(.invalidOptions, message: message)
        }
        guard (0...65_535).contains(localPort) else {
            let message = "\(localPort) is not a local port: ports go from 0 to 65535."
            throw SocketError(.invalidOptions, message: message)
        }
    }
}
