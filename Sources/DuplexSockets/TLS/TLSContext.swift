// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

internal import CDuplexOpenSSL
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What the connections of one set of options share, in the form of OpenSSL.
// `@unchecked`: the pointer isn't Sendable. A context isn't changed after it was set up, and OpenSSL locks what its
// connections share (SSL_CTX_new(3), openssl-threads(7)).
@safe package final class TLSContext: @unchecked Sendable {
    let pointer: OpaquePointer
    let isServer: Bool
    /// Whom to trust; `nil` when peers aren't asked for certificates.
    let trust: TLSTrust?
    /// The sessions that a client can resume; `nil` when it doesn't.
    let sessions: TLSSessions?
    /// The protocols of ALPN in the order of preference, in the form of the wire.
    let protocols: [UInt8]
    /// A server's other identities, each with a context of its own, for clients that ask for a name.
    private let others: [(identity: TLSIdentity, context: TLSContext)]
    private let identity: TLSIdentity?
    private let keyLog: KeyLog?
    /// A client's own roots, where it trusts the system's besides.
    private let additions: [X509Reference]
    /// The roots of both, once they were needed.
    private let allRoots = Mutex<RootStore?>(nil)

    init(client options: TLSOptions) throws(SocketError) {
        // First what may fail while there is no context that would have to be freed.
        protocols = try Self.wire(options.applicationProtocols)
        keyLog = try KeyLog.open(options.keyLogFile)
        try options.trust.checkPins()
        additions = options.trust.usesSystemRoots ? try Self.references(options.trust.roots) : []
        unsafe pointer = try Self.make(options.versions, options.ciphers)
        isServer = false
        trust = options.trust
        sessions = options.resumesSessions ? TLSSessions() : nil
        others = []
        identity = options.identity
        if let identity { try use(identity) }
        try setTrust(options.trust, SSL_VERIFY_PEER)
        if !protocols.isEmpty { _ = unsafe SSL_CTX_set_alpn_protos(pointer, protocols, UInt32(protocols.count)) }
        setSessions()
        if identity == nil { noteRequests() }
        setKeyLog()
    }

    convenience init(server options: TLSServerOptions, _ identities: [TLSIdentity]) throws(SocketError) {
        guard let first = identities.first else {
            throw SocketError(.invalidCertificate, message: "A server needs an identity: its set of them is empty.")
        }
        let log = try KeyLog.open(options.keyLogFile)
        var others: [(TLSIdentity, TLSContext)] = []
        for identity in identities.dropFirst() {
            others.append((identity, try TLSContext(server: options, identity, others: [], log)))
        }
        try self.init(server: options, first, others: others, log)
    }

    private init(
        server options: TLSServerOptions,
        _ identity: TLSIdentity,
        others: [(TLSIdentity, TLSContext)],
        _ keyLog: KeyLog?
    ) throws(SocketError) {
        protocols = try Self.wire(options.applicationProtocols)
        let mode: Int32
        switch options.clientCertificates {
        case .ignored: (trust, mode) = (nil, SSL_VERIFY_NONE)
        case .requested(let wanted): (trust, mode) = (wanted, SSL_VERIFY_PEER)
        case .required(let wanted): (trust, mode) = (wanted, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT)
        }
        try trust?.checkPins()
        additions = []
        let system = try trust?.system?.readNow()
        unsafe pointer = try Self.make(options.versions, options.ciphers)
        isServer = true
        sessions = nil
        self.others = others
        self.identity = identity
        self.keyLog = keyLog
        try use(identity)
        if let trust { try setTrust(trust, mode) }
        if let system {
            let store = try system.adding(try Self.references(trust?.roots ?? []))
            unsafe cduplex_ctx_set_roots(pointer, store.pointer)
        }
        setServer(resumes: options.resumesSessions)
        setKeyLog()
    }

    deinit {
        unsafe SSL_CTX_free(pointer)
    }

    // MARK: Setting up

    private static func make(
        _ versions: ClosedRange<TLSVersion>,
        _ ciphers: TLSCiphers
    ) throws(SocketError) -> OpaquePointer {
        OpenSSLErrors.clear()
        guard let context = unsafe SSL_CTX_new(TLS_method()) else {
            throw SocketError(.system, message: "OpenSSL can't be used: \(OpenSSLErrors.take()).")
        }
        let (lowest, highest) = (versions.lowerBound.rawValue, versions.upperBound.rawValue)
        let areVersionsSet = unsafe cduplex_ctx_set_versions(context, lowest, highest) == 1
        // What idle connections hold is given back; a write that didn't fit is tried again from elsewhere.
        let mode = SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_ENABLE_PARTIAL_WRITE
        unsafe cduplex_ctx_set_mode(context, Int(mode))
        unsafe cduplex_ctx_set_safe_options(context)
        let areCiphersSet =
            unsafe SSL_CTX_set_cipher_list(context, ciphers.tls12) == 1
            && SSL_CTX_set_ciphersuites(context, ciphers.tls13) == 1
        guard areVersionsSet, areCiphersSet else {
            unsafe SSL_CTX_free(context)
            let reason = OpenSSLErrors.take()
            throw SocketError(.tls, message: "OpenSSL refuses these versions or ciphers: \(reason).")
        }
        return unsafe context
    }

    private func use(_ identity: TLSIdentity) throws(SocketError) {
        guard let own = identity.chain.first else { return }
        OpenSSLErrors.clear()
        var isTaken = unsafe SSL_CTX_use_certificate(pointer, own.pointer) == 1
        isTaken = unsafe isTaken && SSL_CTX_use_PrivateKey(pointer, identity.key.pointer) == 1
        for certificate in identity.chain.dropFirst() {
            isTaken = unsafe isTaken && cduplex_ctx_add_chain_certificate(pointer, certificate.pointer) == 1
        }
        if !isTaken {
            let name = TLSCertificate(own).shortName
            throw SocketError(
                .invalidCertificate,
                message: "OpenSSL refuses the certificate of “\(name)”: \(OpenSSLErrors.take())."
            )
        }
    }

    private func setTrust(_ trust: TLSTrust, _ mode: Int32) throws(SocketError) {
        OpenSSLErrors.clear()
        // Read beside names and addresses; each connection gets them before its handshake.
        if !isServer { trust.system?.prepare() }
        for root in trust.roots {
            let certificate = try X509Reference(der: root.der)
            _ = unsafe X509_STORE_add_cert(SSL_CTX_get_cert_store(pointer), certificate.pointer)
            // The issuers that a server sends to clients with its request for certificates.
            if isServer { _ = unsafe SSL_CTX_add_client_CA(pointer, certificate.pointer) }
        }
        OpenSSLErrors.clear()
        unsafe SSL_CTX_set_verify(pointer, mode, nil)
        unsafe SSL_CTX_set_cert_verify_callback(
            pointer,
            { store, _ in unsafe TLSEngine.ofVerification(store)?.verify(store) ?? 0 },
            nil
        )
    }

    private static func references(_ roots: [TLSCertificate]) throws(SocketError) -> [X509Reference] {
        var references: [X509Reference] = []
        for root in roots { references.append(try X509Reference(der: root.der)) }
        return references
    }

    /// What a client's connections get as roots, of the system's.
    func roots(_ system: RootStore) throws(SocketError) -> RootStore {
        if additions.isEmpty { return system }
        if let made = allRoots.withLock({ $0 }) { return made }
        let made = try system.adding(additions)
        allRoots.withLock { $0 = made }
        return made
    }

    private func setSessions() {
        guard sessions != nil else {
            unsafe cduplex_ctx_set_session_cache_mode(pointer, Int(SSL_SESS_CACHE_OFF))
            return
        }
        let mode = SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE
        unsafe cduplex_ctx_set_session_cache_mode(pointer, Int(mode))
        unsafe SSL_CTX_sess_set_new_cb(pointer) { ssl, session in
            guard let engine = unsafe TLSEngine.of(ssl), let session = unsafe session else { return 0 }
            // The reference is ours from here on.
            unsafe engine.keep(session)
            return 1
        }
    }

    private func setServer(resumes: Bool) {
        // The tickets carry all: nothing is kept here for a client that may come back.
        unsafe cduplex_ctx_set_session_cache_mode(pointer, Int(SSL_SESS_CACHE_OFF))
        _ = unsafe SSL_CTX_set_session_id_context(pointer, Array("duplex".utf8), 6)
        if !resumes {
            unsafe cduplex_ctx_give_no_tickets(pointer)
        }
        _ = unsafe SSL_CTX_set_max_early_data(pointer, 0)
        unsafe SSL_CTX_set_alpn_select_cb(
            pointer,
            { ssl, chosen, length, offered, count, _ in
                guard let engine = unsafe TLSEngine.of(ssl) else { return SSL_TLSEXT_ERR_ALERT_FATAL }
                return unsafe engine.context.choose(chosen, length, offered, count)
            },
            nil
        )
        unsafe cduplex_ctx_set_servername_callback(pointer) { ssl, _, _ in
            guard let engine = unsafe TLSEngine.of(ssl), let ssl = unsafe ssl,
                let name = unsafe SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name)
            else { return SSL_TLSEXT_ERR_NOACK }
            guard let context = engine.context.context(for: unsafe String(cString: name)) else {
                return SSL_TLSEXT_ERR_NOACK
            }
            _ = unsafe SSL_set_SSL_CTX(ssl, context.pointer)
            return SSL_TLSEXT_ERR_OK
        }
    }

    /// Has connections without a certificate take note of a server that asks for one.
    private func noteRequests() {
        unsafe SSL_CTX_set_client_cert_cb(pointer) { ssl, _, _ in
            unsafe TLSEngine.of(ssl)?.lacksCertificate = true
            return 0
        }
    }

    private func setKeyLog() {
        guard keyLog != nil else { return }
        unsafe SSL_CTX_set_keylog_callback(pointer) { ssl, line in
            guard let engine = unsafe TLSEngine.of(ssl), let line = unsafe line else { return }
            engine.context.keyLog?.append(unsafe String(cString: line))
        }
    }

    // MARK: While connections are made

    /// The context for clients that ask for that name; `nil` when no identity is for it.
    private func context(for name: String) -> TLSContext? {
        if identity?.serves(name) ?? false { return self }
        return others.first { $0.identity.serves(name) }?.context
    }

    /// Chooses the first of this side's protocols that the client offers.
    private func choose(
        _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
        _ length: UnsafeMutablePointer<UInt8>?,
        _ offered: UnsafePointer<UInt8>?,
        _ count: UInt32
    ) -> Int32 {
        if protocols.isEmpty { return SSL_TLSEXT_ERR_NOACK }
        let offered = unsafe UnsafeBufferPointer(start: offered, count: Int(count))
        var mine = 0
        while mine < protocols.count {
            let name = protocols[(mine + 1)...].prefix(Int(protocols[mine]))
            var theirs = 0
            while theirs < offered.count {
                let end = theirs + 1 + Int(unsafe offered[theirs])
                if unsafe end <= offered.count && offered[(theirs + 1)..<end].elementsEqual(name) {
                    // A pointer into what the client sent, which outlives the call.
                    unsafe chosen?.pointee = offered.baseAddress.map { unsafe $0 + theirs + 1 }
                    unsafe length?.pointee = unsafe offered[theirs]
                    return SSL_TLSEXT_ERR_OK
                }
                theirs = end
            }
            mine += 1 + name.count
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }

    /// The protocols as RFC 7301 section 3.1 has them: each with its length before it.
    private static func wire(_ names: [String]) throws(SocketError) -> [UInt8] {
        for name in names where !(1...255).contains(name.utf8.count) {
            throw SocketError(.tls, message: "“\(name)” can't be a protocol of ALPN: it must have 1 to 255 bytes.")
        }
        return names.flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + Array($0.utf8) }
    }
}

/// The sessions that a client can resume, by the name of the server.
final class TLSSessions: Sendable {
    /// A server sends two tickets as a rule; more are kept for several connections at once.
    private static let sessionsPerName = 4
    /// The most names; beyond that the one that was used longest ago is forgotten.
    private static let namesAtMost = 256

    private struct State {
        var byName: [String: [SessionReference]] = [:]
        /// The names, the one that was used longest ago first.
        var order: [String] = []
    }

    private let state = Mutex(State())

    /// Keeps a session for later connections to that name.
    func add(_ session: SessionReference, for name: String) {
        state.withLock { state in
            state.order.removeAll { $0 == name }
            state.order.append(name)
            state.byName[name, default: []].append(session)
            if state.byName[name, default: []].count > Self.sessionsPerName { state.byName[name]?.removeFirst() }
            if state.order.count > Self.namesAtMost { state.byName[state.order.removeFirst()] = nil }
        }
    }

    /// A session to resume.
    ///
    /// One of TLS 1.3 is given out once, so that connections can't be linked by it (RFC 8446 appendix C.4); its server sends
    /// others. One of TLS 1.2 is for as many connections as come, since its server may send no other.
    func take(for name: String) -> SessionReference? {
        state.withLock { state in
            while let session = state.byName[name]?.popLast() {
                guard session.isResumable else { continue }
                if session.version == .tls12 { state.byName[name]?.append(session) }
                return session
            }
            return nil
        }
    }

    /// Forgets the sessions with a name, whose server may have changed.
    func removeAll(for name: String) {
        state.withLock { $0.byName[name] = nil }
    }
}

/// A session in the form of OpenSSL.
// `@unchecked`: the pointer isn't Sendable. OpenSSL counts its references with atomics, and a session isn't changed once it
// was handed out (openssl-threads(7)).
@safe final class SessionReference: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over one reference.
    init(taking pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    deinit {
        unsafe SSL_SESSION_free(pointer)
    }

    var version: TLSVersion? { TLSVersion(rawValue: unsafe SSL_SESSION_get_protocol_version(pointer)) }

    var isResumable: Bool { unsafe SSL_SESSION_is_resumable(pointer) == 1 }
}

/// A file that gets the keys of connections, in the form that Wireshark and others read (RFC 9850).
private final class KeyLog: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        SystemCalls.close(descriptor)
    }

    /// Opens a file to append to; makes one that only its owner can read.
    ///
    /// - Parameter path: of the file; `nil` for no log.
    /// - Returns: the log, if there is to be one.
    /// - Throws: ``SocketError`` with ``SocketError/Code/system``.
    static func open(_ path: String?) throws(SocketError) -> KeyLog? {
        guard let path else { return nil }
        #if canImport(Glibc)
        let descriptor = unsafe Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        #else
        let descriptor = unsafe Darwin.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        #endif
        if descriptor < 0 {
            throw SocketError(.system, message: "The key log “\(path)” can't be opened.", errno: errno)
        }
        return KeyLog(descriptor)
    }

    /// Appends one line in one call, so that lines of several loops stay whole.
    ///
    /// A line that can't be written is lost: a full disk is no reason to end connections.
    func append(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = unsafe write(descriptor, bytes, bytes.count)
    }
}
