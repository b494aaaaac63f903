// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

internal import CDuplexOpenSSL

/// One side of a secured connection, without a socket: bytes of the network go in and out, and so does plaintext.
///
/// What is to be sent lies in the ``TLSMemory`` that it shares with others: the caller drains that behind each call, before
/// anything else uses the memory.
@safe package final class TLSEngine {
    /// What a handshake needs next.
    package enum Progress {
        /// More from the peer.
        case wantsInput
        /// What was made is to be drained, and the handshake called again.
        case wantsOutput
        /// The caller's word on the peer, by ``TLSEngine/decide(_:)``, and then the handshake called again.
        case wantsDecision(TLSPeer)
        /// Nothing: it is complete.
        case complete
        case failed(SocketError)
    }

    /// What came of decrypting.
    package enum Decrypted {
        /// So many bytes are in the memory; there may be more.
        case bytes(Int)
        /// More from the peer is needed.
        case wantsInput
        /// The peer has ended its side in order.
        case ended
        case failed(SocketError)
    }

    package let context: TLSContext
    private let ssl: OpaquePointer
    private let bio: TLSMemoryBIO
    package let memory: TLSMemory
    /// The name that is looked for in the peer's certificate.
    private let serverName: String?

    /// Whether the handshake needs the system's roots, which aren't read yet: see ``use(_:)``.
    private(set) var awaitsRoots = false

    /// Whether the server has asked for a certificate and got none.
    var lacksCertificate = false
    /// Whether the peer has sent anything after its handshake.
    private(set) var hasDecrypted = false

    private var verdict: Bool?
    private var undecided: TLSPeer?
    private var verifyFailure: SocketError?
    private var isComplete = false
    private var hasSentEnd = false
    private var hasFailed = false
    /// What was met behind plaintext that was handed out first, if it is of use for another call.
    private var met: Decrypted?

    /// Makes one side.
    ///
    /// - Parameters:
    ///   - context: of a client or a server.
    ///   - serverName: the host that a client connects to, a name or an address; `nil` for servers.
    ///   - memory: of the loop that the connection lives on.
    /// - Throws: ``SocketError`` when there is no name although one has to be checked, or no memory.
    package init(context: TLSContext, serverName: String?, memory: TLSMemory) throws(SocketError) {
        OpenSSLErrors.clear()
        guard let ssl = unsafe SSL_new(context.pointer) else {
            throw SocketError(.system, message: "OpenSSL has no memory: \(OpenSSLErrors.take()).")
        }
        self.context = context
        unsafe self.ssl = unsafe ssl
        self.memory = memory
        bio = TLSMemoryBIO(memory)
        self.serverName = serverName.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
        guard let memoryBIO = unsafe bio.makeBIO() else {
            throw SocketError(.system, message: "OpenSSL has no memory: \(OpenSSLErrors.take()).")
        }
        unsafe SSL_set_bio(ssl, memoryBIO, memoryBIO)
        unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        if context.isServer {
            unsafe SSL_set_accept_state(ssl)
        } else {
            unsafe SSL_set_connect_state(ssl)
            try setName()
            try setRoots()
            resume()
        }
    }

    deinit {
        // Without this OpenSSL would hold the session of a connection that ended in no order to be spoilt, as TLS 1.0 did
        // (RFC 5246 section 7.2.1).
        if isComplete && !hasFailed { unsafe SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
        unsafe SSL_free(ssl)
    }

    private func setName() throws(SocketError) {
        guard let name = serverName, !name.isEmpty else {
            if context.trust?.checksName ?? true {
                throw SocketError(
                    .tls,
                    message: "There is no name to look for in the server's certificate: give one by serverName."
                )
            }
            return
        }
        let parameters = unsafe SSL_get0_param(ssl)
        let checksName = context.trust?.checksName ?? true
        // An address has no place in SNI (RFC 6066 section 3).
        if let address = try? SocketAddress(name, port: 0) {
            let literal = String(address.host.prefix { $0 != "%" })
            if checksName { _ = unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, literal) }
            return
        }
        let isName = name.utf8.allSatisfy { (0x21...0x7E).contains($0) } && name.utf8.count <= 253
        guard isName, unsafe cduplex_ssl_set_server_name(ssl, name) == 1 else {
            throw SocketError(
                .tls,
                message: "“\(name)” can't be the name of a server: names of other scripts are written with xn--."
            )
        }
        guard checksName else { return }
        // Names are those of subjectAltName, and a wildcard is a whole label (RFC 9525 section 6).
        let flags = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
        unsafe X509_VERIFY_PARAM_set_hostflags(parameters, flags)
        _ = unsafe X509_VERIFY_PARAM_set1_host(parameters, name, name.utf8.count)
    }

    private func setRoots() throws(SocketError) {
        guard let system = context.trust?.system else { return }
        if let store = system.store { try use(store) } else { awaitsRoots = true }
    }

    /// Has the server's certificate lead to the system's roots, or to those that the options add.
    func use(_ system: RootStore) throws(SocketError) {
        let store = try context.roots(system)
        _ = unsafe cduplex_ssl_set_roots(ssl, store.pointer)
        awaitsRoots = false
    }

    // MARK: Sessions

    private var sessionName: String { serverName ?? "" }

    private func resume() {
        guard let session = context.sessions?.take(for: sessionName) else { return }
        _ = unsafe SSL_set_session(ssl, session.pointer)
    }

    /// Keeps a session that the server has given, and its reference.
    func keep(_ session: OpaquePointer) {
        unsafe context.sessions?.add(SessionReference(taking: session), for: sessionName)
    }

    // MARK: Handshake

    /// The bytes of the network that wait to be decrypted.
    package var hasInput: Bool {
        if bio.inputCount > 0 { return true }
        switch met {
        case .ended, .failed: return true
        case .bytes, .wantsInput: return false
        case nil: return unsafe isComplete && SSL_pending(ssl) > 0
        }
    }

    /// Has the calls in `body` read those bytes of the network, and keeps what they leave.
    package func withInput<Result>(_ bytes: RawSpan, _ body: () -> Result) -> Result {
        if case .wantsInput = met { met = nil }
        return bio.withInput(bytes, body)
    }

    /// Has the calls in `body` read what was left of the bytes of the network.
    package func withRest<Result>(_ body: () -> Result) -> Result {
        bio.withRest(body)
    }

    /// Goes on with the handshake, as far as it goes.
    package func handshake() -> Progress {
        OpenSSLErrors.clear()
        let code = unsafe SSL_do_handshake(ssl)
        if code == 1 {
            // A server's decision comes at the end: OpenSSL has no other place for it.
            if let peer = undecided, verdict == nil { return .wantsDecision(peer) }
            if verdict == false { return .failed(verifyFailure ?? Self.refused) }
            isComplete = true
            return .complete
        }
        switch unsafe SSL_get_error(ssl, code) {
        case SSL_ERROR_WANT_READ: return .wantsInput
        case SSL_ERROR_WANT_WRITE: return .wantsOutput
        case SSL_ERROR_WANT_RETRY_VERIFY:
            if let peer = undecided { return .wantsDecision(peer) }
            fallthrough
        default:
            context.sessions?.removeAll(for: sessionName)
            let failure = TLSFailure.take(isHandshake: true, isServer: context.isServer)
            return .failed(verifyFailure ?? failure)
        }
    }

    /// Says whether to go on with the peer that ``Progress/wantsDecision(_:)`` was about.
    package func decide(_ isTrusted: Bool) {
        verdict = isTrusted
        if !isTrusted { verifyFailure = undecided?.failure ?? Self.refused }
    }

    private static let refused = SocketError(
        .untrustedPeer,
        message: "The peer's certificate was refused by the decision of this side."
    )

    /// What was agreed upon; call it when the handshake is complete.
    package var connection: TLSInfo {
        let cipher = unsafe SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl))
        let name = unsafe SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name)
        return TLSInfo(
            version: TLSVersion(rawValue: unsafe SSL_version(ssl)) ?? .tls12,
            cipherSuite: unsafe cipher.map { unsafe String(cString: $0) } ?? "unknown",
            applicationProtocol: applicationProtocol,
            serverName: unsafe name.map { unsafe String(cString: $0) },
            isResumed: unsafe SSL_session_reused(ssl) == 1,
            peer: peerChain,
            lacksCertificate: lacksCertificate
        )
    }

    private var applicationProtocol: String? {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &start, &count)
        guard count > 0 else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    private var peerChain: [[UInt8]] {
        guard let own = unsafe SSL_get1_peer_certificate(ssl) else { return [] }
        let first = unsafe X509Reference(taking: own)
        let chain = unsafe SSL_get_peer_cert_chain(ssl)
        // On a server the chain doesn't begin with the peer's own one.
        var result = [first.der]
        for index in 0..<(unsafe cduplex_certificate_count(chain)) {
            guard let pointer = unsafe cduplex_certificate_at(chain, index) else { continue }
            let der = unsafe X509Reference(sharing: pointer).der
            if !result.contains(der) { result.append(der) }
        }
        return result
    }

    // MARK: Plaintext

    /// Decrypts what there is into the memory, up to `limit` bytes.
    package func decrypt(limit: Int) -> Decrypted {
        if let met { return met }
        let room = min(limit, TLSMemory.plaintextSize)
        var count = 0
        OpenSSLErrors.clear()
        while count < room {
            var taken = 0
            let target = unsafe memory.plaintext.baseAddress.map { unsafe $0 + count }
            if unsafe SSL_read_ex(ssl, target, room - count, &taken) == 1 {
                count += taken
                continue
            }
            met = endOfDecrypting()
            break
        }
        if count > 0 { hasDecrypted = true }
        return if count > 0 { .bytes(count) } else { met ?? .wantsInput }
    }

    private func endOfDecrypting() -> Decrypted {
        switch unsafe SSL_get_error(ssl, 0) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wantsInput
        case SSL_ERROR_ZERO_RETURN: return .ended
        default:
            hasFailed = true
            return .failed(TLSFailure.take(isHandshake: false, isServer: context.isServer))
        }
    }

    /// Encrypts bytes into the memory, which must be drained, as far as there is room: 64 KiB at least.
    ///
    /// - Returns: how many bytes were taken.
    package func encrypt(_ bytes: RawSpan) throws(SocketError) -> Int {
        OpenSSLErrors.clear()
        var count = 0
        while count < min(bytes.byteCount, 65_536) {
            var taken = 0
            let isTaken = unsafe bytes.withUnsafeBytes { source in
                let rest = unsafe source.baseAddress.map { unsafe $0 + count }
                return unsafe SSL_write_ex(ssl, rest, min(source.count, 65_536) - count, &taken) == 1
            }
            guard isTaken else {
                throw TLSFailure.take(isHandshake: false, isServer: context.isServer)
            }
            count += taken
        }
        return count
    }

    /// Tells the peer that nothing more comes from this side (RFC 8446 section 6.1); once.
    package func sendEnd() {
        guard isComplete, !hasSentEnd else { return }
        hasSentEnd = true
        OpenSSLErrors.clear()
        _ = unsafe SSL_shutdown(ssl)
        OpenSSLErrors.clear()
    }

    // MARK: What OpenSSL asks

    static func of(_ ssl: OpaquePointer?) -> TLSEngine? {
        guard let ssl = unsafe ssl, let data = unsafe SSL_get_ex_data(ssl, 0) else { return nil }
        return unsafe Unmanaged<TLSEngine>.fromOpaque(data).takeUnretainedValue()
    }

    /// The engine that a verification is for.
    static func ofVerification(_ store: OpaquePointer?) -> TLSEngine? {
        let index = SSL_get_ex_data_X509_STORE_CTX_idx()
        guard let ssl = unsafe X509_STORE_CTX_get_ex_data(store, index) else { return nil }
        return unsafe of(OpaquePointer(ssl))
    }

    /// Verifies the peer's certificates.
    ///
    /// - Returns: 1 to go on, 0 to refuse.
    func verify(_ store: OpaquePointer?) -> Int32 {
        guard let store = unsafe store, let trust = context.trust else { return 0 }
        if let verdict {
            unsafe X509_STORE_CTX_set_error(store, verdict ? X509_V_OK : X509_V_ERR_APPLICATION_VERIFICATION)
            return verdict ? 1 : 0
        }
        let failure = unsafe evaluate(store, trust)
        guard trust.decision != nil else {
            verifyFailure = failure
            return failure == nil ? 1 : 0
        }
        unsafe undecided = TLSPeer(certificates: sent(store), serverName: serverName, failure: failure)
        if context.isServer {
            unsafe X509_STORE_CTX_set_error(store, X509_V_OK)
            return 1
        }
        // A positive result with this mark suspends the handshake; the call comes again when it goes on.
        _ = unsafe cduplex_ssl_retry_verify(ssl)
        return 1
    }

    private func evaluate(_ store: OpaquePointer, _ trust: TLSTrust) -> SocketError? {
        let own = unsafe X509_STORE_CTX_get0_cert(store).map { unsafe TLSCertificate(X509Reference(sharing: $0)) }
        if trust.isVerified, unsafe X509_verify_cert(store) != 1 {
            let culprit = unsafe X509_STORE_CTX_get_current_cert(store)
            return unsafe TLSFailure.untrusted(
                X509_STORE_CTX_get_error(store),
                certificate: culprit.map { unsafe TLSCertificate(X509Reference(sharing: $0)) },
                own: own,
                name: serverName
            )
        }
        guard !trust.pins.isEmpty else { return nil }
        // Without verification only the peer's own key says anything: it has shown that it has it.
        let chain = unsafe trust.isVerified ? certificates(X509_STORE_CTX_get0_chain(store)) : [own].compactMap(\.self)
        if chain.contains(where: { trust.pins.contains($0.pin) }) { return nil }
        let failure = TLSFailure.unpinned(own)
        if let report = trust.report {
            unsafe report(TLSPeer(certificates: sent(store), serverName: serverName, failure: failure))
            return nil
        }
        unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
        return failure
    }

    /// What the peer has sent, its own certificate first.
    private func sent(_ store: OpaquePointer) -> [TLSCertificate] {
        unsafe certificates(X509_STORE_CTX_get0_untrusted(store))
    }

    private func certificates(_ stack: OpaquePointer?) -> [TLSCertificate] {
        (0..<(unsafe cduplex_certificate_count(stack))).compactMap { index in
            unsafe cduplex_certificate_at(stack, index).map { unsafe TLSCertificate(X509Reference(sharing: $0)) }
        }
    }
}
