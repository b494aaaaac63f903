// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How a client secures its connections.
///
/// The defaults are what they should be: TLS 1.2 at least, the system's roots, and the name of the host checked. A value and its
/// copies share what is costly to make, and the sessions that can be resumed.
public struct TLSOptions: Sendable {
    /// Which certificates to trust.
    ///
    /// Default: those of the system's roots, for the name of the host.
    public var trust = TLSTrust.systemRoots { didSet { cache = TLSContextCache() } }
    /// The name that is asked for (SNI, RFC 6066) and looked for in the certificate.
    ///
    /// Default: the host that is connected to.
    ///
    /// An address is looked for and not asked for.
    public var serverName: String?
    /// The versions to offer.
    ///
    /// Default: 1.2 and 1.3.
    public var versions = TLSVersion.tls12...TLSVersion.tls13 { didSet { cache = TLSContextCache() } }
    /// What to show a server that asks for a certificate.
    ///
    /// Default: nothing.
    public var identity: TLSIdentity? { didSet { cache = TLSContextCache() } }
    /// The protocols to offer by ALPN, the preferred one first, each of 1 to 255 bytes (RFC 7301).
    public var applicationProtocols: [String] = [] { didSet { cache = TLSContextCache() } }
    /// The ciphers to offer.
    ///
    /// Default: ``TLSCiphers/standard``.
    public var ciphers = TLSCiphers.standard { didSet { cache = TLSContextCache() } }
    /// Whether to resume earlier sessions, which saves a round trip's worth of computing.
    ///
    /// Default: yes.
    ///
    /// A session is used only by connections of the same value and its copies to the same name. Early data is never sent.
    public var resumesSessions = true { didSet { cache = TLSContextCache() } }
    /// A file that gets the keys of each connection, for looking into it with Wireshark.
    ///
    /// Default: none.
    ///
    /// Hazard: whoever reads it reads everything. Made with permissions for its owner alone.
    public var keyLogFile: String? { didSet { cache = TLSContextCache() } }
    /// How long a handshake may take.
    ///
    /// Default: 10 s.
    public var handshakeTimeout = Duration.seconds(10)

    /// The durations that are set here.
    package var durations: [DurationSetting] { [DurationSetting("handshakeTimeout", handshakeTimeout)] }

    private var cache = TLSContextCache()

    /// The options that are used where none are given.
    private static let standard = TLSOptions(cache: TLSContextCache())

    private init(cache: TLSContextCache) {
        self.cache = cache
    }

    /// The default options.
    public init() {
        self = Self.standard
    }

    /// What OpenSSL needs, made once.
    func context() throws(SocketError) -> TLSContext {
        try cache.context(version: 0) { () throws(SocketError) in try TLSContext(client: self) }
    }
}

/// Which ciphers are offered, or taken.
public struct TLSCiphers: Sendable, Hashable {
    /// For TLS 1.2, in the form of OpenSSL (openssl-ciphers(1)).
    public var tls12: String
    /// For TLS 1.3: names with colons between.
    public var tls13: String

    /// Those with forward secrecy and authenticated encryption only (RFC 9325 section 4.2).
    public static let standard = TLSCiphers(
        tls12: "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL",
        tls13: "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    )

    /// Makes a value.
    public init(tls12: String, tls13: String) {
        self.tls12 = tls12
        self.tls13 = tls13
    }
}
