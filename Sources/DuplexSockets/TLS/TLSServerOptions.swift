// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

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
    public let identities: TLSIdentities
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
    /// Default: ``TLSCiphers/standard``.
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
        identities = TLSIdentities([identity])
    }

    /// Options for several identities, of which the name that the client asks for chooses.
    public init(_ identities: TLSIdentities) {
        self.identities = identities
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
public final class TLSIdentities: Sendable {
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
    /// let identities = try TLSIdentities { [try .pem(certificates: "/etc/ssl/me.pem", key: "/etc/ssl/me.key")] }
    /// ```
    ///
    /// - Parameter read: reads at least one identity; it may block.
    /// - Throws: what `read` throws.
    public init(reading read: @escaping @Sendable () throws -> [TLSIdentity]) throws {
        state = Mutex((0, try read()))
        self.read = read
    }

    /// Reads the identities again, such as renewed certificates; see ``replace(with:)``.
    ///
    /// Blocks while they are read. Does nothing to identities that weren't read by a closure.
    ///
    /// - Throws: what the closure throws; the identities stay as they were then.
    public func reload() throws {
        if let read { replace(with: try read()) }
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
final class TLSContextCache: Sendable {
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
