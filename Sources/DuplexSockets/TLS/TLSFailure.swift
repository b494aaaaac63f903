// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

internal import CDuplexOpenSSL

extension SocketError {
    fileprivate static let plainPeer = "the peer doesn't speak TLS"

    /// Whether the handshake of TLS has failed because the peer answered with something else.
    package var isOfPlainPeer: Bool { code == .tls && message.contains(Self.plainPeer) }
}

/// Says in words of people why a peer isn't trusted, or a handshake has failed.
enum TLSFailure {
    // MARK: Certificates

    /// Why a certificate was refused.
    ///
    /// - Parameters:
    ///   - code: OpenSSL's number for it.
    ///   - certificate: the one that is at fault.
    ///   - own: the peer's own one.
    ///   - name: what was looked for in it.
    /// - Returns: the error.
    static func untrusted(
        _ code: Int32,
        certificate: TLSCertificate?,
        own: TLSCertificate?,
        name: String?
    ) -> SocketError {
        let who = certificate.map { "The certificate of “\($0.shortName)”" } ?? "The certificate"
        let message: String
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            message = "\(who) expired on \(certificate?.notAfter.description ?? "a date that has passed")."
        case X509_V_ERR_CERT_NOT_YET_VALID:
            message =
                "\(who) isn't valid before \(certificate?.notBefore.description ?? "a date to come"): "
                + "it is new, or the clock of this machine is wrong."
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            message = wrongName(own, name)
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            message = "\(who) is signed by itself, and isn't among the trusted roots."
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            message = "\(who) is a root that isn't trusted here."
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            message =
                "\(who) was issued by “\(certificate?.issuer ?? "?")”, which isn't known here: its root isn't "
                + "trusted, or the peer didn't send the certificates in between."
        case X509_V_ERR_INVALID_PURPOSE:
            message = "\(who) isn't meant for this purpose."
        case X509_V_ERR_CERT_REVOKED:
            message = "\(who) has been revoked."
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK:
            message = "\(who) is too weak: its key or its digest is no longer held to be safe."
        default:
            let text = unsafe X509_verify_cert_error_string(Int(code)).map { unsafe String(cString: $0) }
            message = "\(who) can't be trusted: \(text ?? "error \(code)")."
        }
        var error = SocketError(.untrustedPeer, message: message)
        error.hint = hint(code, own)
        return error
    }

    /// What to do about a certificate that was refused.
    private static func hint(_ code: Int32, _ own: TLSCertificate?) -> String? {
        switch code {
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            own?.names.isEmpty ?? true
                ? "have it issued with the host among its alternative names (subjectAltName)"
                : "connect by one of its names, or have that one looked for by TLSOptions.serverName"
        case X509_V_ERR_CERT_HAS_EXPIRED: "the server needs a new one, or the clock of this machine is wrong"
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            "if it is yours, trust it: TLSOptions.trust = .systemRoots.adding(_:), or .roots(_:)"
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            "have the server send its whole chain, or trust its root: TLSOptions.trust = .systemRoots.adding(_:)"
        default: nil
        }
    }

    private static func wrongName(_ own: TLSCertificate?, _ name: String?) -> String {
        let wanted = name.map { "“\($0)”" } ?? "the name that was asked for"
        guard let own, !own.names.isEmpty else {
            let common = own.map { " “\($0.shortName)”" } ?? ""
            return
                "The certificate has a common name\(common) only, which isn't the name of a host (RFC 9525), and so it "
                + "isn't for \(wanted)."
        }
        // A certificate may be for hundreds.
        let shown = own.names.prefix(5).joined(separator: ", ")
        let more = own.names.count > 5 ? " and \(own.names.count - 5) more" : ""
        return "The certificate is for \(shown)\(more), and not for \(wanted)."
    }

    /// None of a peer's keys is among the pins.
    static func unpinned(_ own: TLSCertificate?) -> SocketError {
        SocketError(
            .untrustedPeer,
            message: "No key of the peer is among the pins; its own certificate's is \(own?.pin ?? "unknown")."
        )
    }

    // MARK: Handshakes

    /// For a connection that failed after the server had asked for a certificate and got none.
    static let noCertificate =
        "the server asked for a client certificate, and this side has none: see TLSOptions.identity"

    /// A client has sent a request in the clear, and has had its answer.
    static var plainRequest: SocketError {
        SocketError(.tls, message: "The TLS handshake has failed: \(SocketError.plainPeer) (a request in the clear).")
    }

    /// Why OpenSSL gave up, from its queue of errors.
    static func take(isHandshake: Bool, isServer: Bool) -> SocketError {
        let entry = OpenSSLErrors.takeFirst()
        let what = isHandshake ? "The TLS handshake has failed" : "The secured connection has failed"
        guard let entry, entry.library == ERR_LIB_SSL else {
            return SocketError(.tls, message: "\(what): \(entry?.text ?? "nothing more is known").")
        }
        if (1_000..<1_256).contains(entry.reason) {
            return SocketError(.tls, message: "\(what): the peer \(alert(entry.reason - 1_000)).")
        }
        return SocketError(.tls, message: "\(what): \(reason(entry, isServer: isServer)).")
    }

    /// What a peer means by an alert (RFC 8446 section 6.2).
    private static func alert(_ number: Int32) -> String {
        switch number {
        case 10: "got a message that it didn't expect (unexpected_message)"
        case 20: "could not decrypt what it got (bad_record_mac)"
        case 40: "finds nothing that both sides can do (handshake_failure): versions, ciphers or certificates"
        case 42: "refuses this side's certificate (bad_certificate)"
        case 43: "doesn't support this side's certificate (unsupported_certificate)"
        case 44: "says that this side's certificate is revoked (certificate_revoked)"
        case 45: "says that this side's certificate has expired (certificate_expired)"
        case 46: "refuses this side's certificate (certificate_unknown)"
        case 47: "finds a value that makes no sense (illegal_parameter)"
        case 48: "doesn't know who issued this side's certificate (unknown_ca)"
        case 49: "doesn't let this side in, whatever its certificate (access_denied)"
        case 51: "could not verify a signature (decrypt_error)"
        case 70: "doesn't speak any version of TLS that this side does (protocol_version)"
        case 71: "finds what is offered too weak (insufficient_security)"
        case 80: "had a failure of its own (internal_error)"
        case 90: "was cancelled (user_canceled)"
        case 109: "misses an extension (missing_extension)"
        case 112: "isn't the host that was asked for (unrecognized_name)"
        case 116: "wants a certificate, and this side showed none (certificate_required)"
        case 120: "speaks none of the protocols that were offered by ALPN (no_application_protocol)"
        default: "sent alert \(number)"
        }
    }

    private static func reason(_ entry: OpenSSLErrors.Entry, isServer: Bool) -> String {
        switch entry.reason {
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_PACKET_LENGTH_TOO_LONG:
            "\(SocketError.plainPeer) (\(entry.text))"
        case SSL_R_UNSUPPORTED_PROTOCOL:
            "the peer offers only versions of TLS that aren't allowed here"
        case SSL_R_NO_SHARED_CIPHER:
            "both sides have no cipher in common"
        case SSL_R_NO_APPLICATION_PROTOCOL:
            "both sides have no protocol in common (ALPN)"
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            "the client showed no certificate, and one is required"
        case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC:
            "a record was changed on its way, or isn't from this peer (\(entry.text))"
        default:
            entry.text
        }
    }
}
