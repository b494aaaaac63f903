// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

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
    /// Default: those of ``TLSCiphers/init(tls12:tls13:)``.
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

/// Which ciphers are offered, or taken; by default those with forward secrecy and authenticated encryption only (RFC 9325
/// section 4.2).
public struct TLSCiphers: Sendable, Hashable {
    /// For TLS 1.2, in the form of OpenSSL (openssl-ciphers(1)).
    package var tls12: String
    /// For TLS 1.3: names with colons between.
    package var tls13: String

    /// Those with forward secrecy and authenticated encryption only (RFC 9325 section 4.2).
    package static let standard = TLSCiphers()

    /// Makes a value.
    ///
    /// - Parameters:
    ///   - tls12: for TLS 1.2, in the form of OpenSSL (openssl-ciphers(1)). Default: ECDHE with AES-GCM or ChaCha20.
    ///   - tls13: for TLS 1.3, names with colons between. Default: AES-128-GCM, AES-256-GCM and ChaCha20.
    public init(
        tls12: String = "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL",
        tls13: String = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    ) {
        self.tls12 = tls12
        self.tls13 = tls13
    }
}

/// How a server secures its connections.
public struct TLSServerOptions: Sendable {
    /// Whether clients have to show a certificate.
    public enum ClientCertificates: Sendable {
        /// They aren't asked.
        case ignored
        /// They are asked; who shows none is let in, who shows one that isn't trusted is not.
        case requested(TLSTrust)
        /// Only who shows one that is trusted is let in.
        case required(TLSTrust)
    }

    /// What the server shows, by name; can be replaced while it runs.
    public let identities: ReloadableTLSIdentity
    /// The versions to accept.
    ///
    /// Default: 1.2 and 1.3.
    public var versions = TLSVersion.tls12...TLSVersion.tls13 { didSet { cache = TLSContextCache() } }
    /// Whether clients have to show a certificate.
    ///
    /// Default: they aren't asked.
    public var clientCertificates = ClientCertificates.ignored { didSet { cache = TLSContextCache() } }
    /// The protocols to take by ALPN, the preferred one first; a client that offers others only is refused (RFC 7301).
    ///
    /// With none, what clients offer is ignored.
    public var applicationProtocols: [String] = [] { didSet { cache = TLSContextCache() } }
    /// The ciphers to accept, the preferred one first.
    ///
    /// Default: those of ``TLSCiphers/init(tls12:tls13:)``.
    public var ciphers = TLSCiphers.standard { didSet { cache = TLSContextCache() } }
    /// Whether clients may resume sessions by tickets, which the server doesn't have to keep.
    ///
    /// Default: yes.
    ///
    /// Early data is never taken.
    public var resumesSessions = true { didSet { cache = TLSContextCache() } }
    /// As in ``TLSOptions/keyLogFile``.
    public var keyLogFile: String? { didSet { cache = TLSContextCache() } }
    /// How long a handshake may take.
    ///
    /// Default: 10 s.
    public var handshakeTimeout = Duration.seconds(10)

    /// The durations that are set here.
    package var durations: [DurationSetting] { [DurationSetting("handshakeTimeout", handshakeTimeout)] }

    private var cache = TLSContextCache()

    /// Options for one identity.
    public init(_ identity: TLSIdentity) {
        identities = ReloadableTLSIdentity([identity])
    }

    /// Options for several identities, of which the name that the client asks for chooses.
    public init(_ identities: ReloadableTLSIdentity) {
        self.identities = identities
    }

    /// Reads a certificate with its chain, and a private key, from PEM files, which may be the same; they can be read again.
    ///
    /// ```swift
    /// server.tls = try .pem(certificatesAt: "cert.pem", keyAt: "key.pem")
    /// ```
    ///
    /// ``identities`` reads the files again by ``ReloadableTLSIdentity/reload()``; a `WebServer` that runs by `run(until:)`
    /// does so at SIGHUP. Blocks while the files are read.
    ///
    /// - Parameters:
    ///   - certificates: the path of the certificates, the key's own one first. A relative path is of the folder that the
    ///     process is in whenever it is read.
    ///   - key: the path of the private key.
    ///   - password: of a key that is encrypted. Default: none.
    /// - Returns: options with defaults, and this identity.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidCertificate`` that says which file lacks what.
    public static func pem(
        certificatesAt certificates: String,
        keyAt key: String,
        password: String? = nil
    ) throws(SocketError) -> TLSServerOptions {
        let first = try TLSIdentity.pem(certificatesAt: certificates, keyAt: key, password: password)
        let identities = ReloadableTLSIdentity([first]) {
            [try .pem(certificatesAt: certificates, keyAt: key, password: password)]
        }
        return TLSServerOptions(identities)
    }

    /// What OpenSSL needs, made once for each set of identities.
    func context() throws(SocketError) -> TLSContext {
        let (version, identities) = identities.current
        return try cache.context(version: version) { () throws(SocketError) in
            try TLSContext(server: self, identities)
        }
    }
}

/// The identities of a server, which can be replaced while it runs, such as by a renewed certificate.
public final class ReloadableTLSIdentity: Sendable {
    private let state: Mutex<(version: Int, identities: [TLSIdentity])>
    private let read: (@Sendable () throws -> [TLSIdentity])?

    /// Makes a set.
    ///
    /// - Parameter identities: at least one, else no connection can be secured. The first is for clients that ask for no name, or for one that none has.
    public init(_ identities: [TLSIdentity]) {
        state = Mutex((0, identities))
        read = nil
    }

    /// Makes a set of what a closure reads, which ``reload()`` has it read again.
    ///
    /// ```swift
    /// let identities = try ReloadableTLSIdentity { [try .pem(certificatesAt: "/etc/ssl/me.pem", keyAt: "/etc/ssl/me.key")] }
    /// ```
    ///
    /// - Parameter read: reads at least one identity; it may block.
    /// - Throws: what `read` throws.
    public convenience init(reading read: @escaping @Sendable () throws -> [TLSIdentity]) throws {
        self.init(try read(), readAgainBy: read)
    }

    fileprivate init(_ identities: [TLSIdentity], readAgainBy read: @escaping @Sendable () throws -> [TLSIdentity]) {
        state = Mutex((0, identities))
        self.read = read
    }

    /// Whether ``reload()`` reads anything.
    package var canReload: Bool { read != nil }

    /// The certificates of the present identities, each with its chain.
    package var certificates: [[TLSCertificate]] { current.identities.map(\.certificates) }

    /// Reads the identities again, such as renewed certificates; see ``replace(with:)``.
    ///
    /// Blocks while they are read. Does nothing to identities that weren't read by a closure.
    ///
    /// - Throws: what the closure throws, and ``SocketError/Code/invalidCertificate`` if it gives none; the identities stay as they
    ///   were then.
    public func reload() throws {
        guard let read else { return }
        let identities = try read()
        guard !identities.isEmpty else {
            throw SocketError(.invalidCertificate, message: "No identity was read again; those that were there stay.")
        }
        replace(with: identities)
    }

    /// Replaces the identities for new connections; open connections keep theirs.
    ///
    /// - Parameter identities: at least one, as in ``init(_:)``.
    public func replace(with identities: [TLSIdentity]) {
        state.withLock { $0 = ($0.version + 1, identities) }
    }

    var current: (version: Int, identities: [TLSIdentity]) { state.withLock { $0 } }
}

/// Keeps what was made from a value of options, for it and its copies.
private final class TLSContextCache: Sendable {
    private let state = Mutex<(version: Int, context: TLSContext)?>(nil)

    func context(
        version: Int,
        _ make: () throws(SocketError) -> TLSContext
    ) throws(SocketError) -> TLSContext {
        if let kept = state.withLock({ $0 }), kept.version == version { return kept.context }
        // Made outside of the lock, since roots are read from files; two at once make one too many.
        let context = try make()
        state.withLock { $0 = (version, context) }
        return context
    }
}
