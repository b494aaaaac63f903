// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

internal import CDuplexOpenSSL

/// A private key and the certificates that vouch for it: what a server shows its clients, or a client a server.
public struct TLSIdentity: Sendable {
    /// The key's own certificate first, then those that lead to a root.
    public let certificates: [TLSCertificate]
    let chain: [X509Reference]
    let key: KeyReference

    init(_ chain: [X509Reference], _ key: KeyReference, called name: String) throws(SocketError) {
        guard let own = chain.first, unsafe X509_check_private_key(own.pointer, key.pointer) == 1 else {
            OpenSSLErrors.clear()
            let whose = chain.first.map { TLSCertificate($0).shortName } ?? ""
            throw SocketError(
                .invalidCertificate,
                message: "The private key of \(name) doesn't belong to its first certificate, “\(whose)”."
            )
        }
        self.chain = chain
        self.key = key
        certificates = chain.map { TLSCertificate($0) }
    }

    /// Reads a certificate with its chain, and a private key, from PEM files, which may be the same (RFC 7468).
    ///
    /// Blocks while the files are read.
    ///
    /// - Parameters:
    ///   - certificates: the path of the certificates, the key's own one first.
    ///   - key: the path of the private key.
    ///   - password: of a key that is encrypted. Default: none.
    /// - Returns: the identity.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidCertificate`` that says which file lacks what.
    public static func pem(
        certificatesAt certificates: String,
        keyAt key: String,
        password: String? = nil
    ) throws(SocketError) -> TLSIdentity {
        let chain = try PEMReader.certificates(in: PEMReader.open(certificates), called: "“\(certificates)”")
        let key = try PEMReader.key(in: PEMReader.open(key), called: "“\(key)”", password: password)
        return try TLSIdentity(chain, key, called: "“\(certificates)”")
    }

    /// Reads a certificate with its chain, and a private key, from PEM texts (RFC 7468).
    ///
    /// Hazard: for paths see ``pem(certificatesAt:keyAt:password:)``; a path isn't PEM, and is refused here.
    ///
    /// - Parameters:
    ///   - certificates: one text of all certificates, or several texts, the key's own certificate first.
    ///   - key: the text of the private key.
    ///   - password: of a key that is encrypted. Default: none.
    /// - Returns: the identity.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidCertificate`` that says what is missing.
    public static func pem(
        certificates: String...,
        key: String,
        password: String? = nil
    ) throws(SocketError) -> TLSIdentity {
        // The end of a text needn't be that of a line.
        let text = certificates.joined(separator: "\n")
        let chain = try PEMReader.certificates(in: PEMReader.bytes(Array(text.utf8)), called: "the text")
        let key = try PEMReader.key(in: PEMReader.bytes(Array(key.utf8)), called: "the text", password: password)
        return try TLSIdentity(chain, key, called: "the text")
    }

    /// Reads a PKCS #12 file, such as one that ends with `.p12` or `.pfx` (RFC 7292).
    ///
    /// Blocks while the file is read.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - password: that it is encrypted with.
    /// - Returns: the identity.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidCertificate``.
    public static func pkcs12(at path: String, password: String) throws(SocketError) -> TLSIdentity {
        let (key, chain) = try PEMReader.pkcs12(in: PEMReader.open(path), called: "“\(path)”", password: password)
        return try TLSIdentity(chain, key, called: "“\(path)”")
    }

    /// Reads PKCS #12 from memory; see ``pkcs12(at:password:)``.
    public static func pkcs12(bytes: [UInt8], password: String) throws(SocketError) -> TLSIdentity {
        let (key, chain) = try PEMReader.pkcs12(in: PEMReader.bytes(bytes), called: "the container", password: password)
        return try TLSIdentity(chain, key, called: "the container")
    }

    /// The certificates as PEM, one after the other.
    public var certificatesPEM: String { chain.map(\.pem).joined() }

    /// The private key as PEM, not encrypted: whoever reads it can pretend to be this identity.
    public var keyPEM: String { key.pem }

    /// Whether the identity is for a host of that name (RFC 9525 section 6.3).
    func serves(_ name: String) -> Bool {
        guard let own = chain.first else { return false }
        let flags = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
        return unsafe X509_check_host(own.pointer, name, name.utf8.count, flags, nil) == 1
    }

    /// Makes a key pair on P-256 and a certificate that is signed by itself, for development and for devices that know each
    /// other by pins.
    ///
    /// Clients don't trust it by default: give them its certificate with ``TLSTrust/roots(_:)``.
    ///
    /// - Parameters:
    ///   - names: the DNS names and addresses that it is for, at least one.
    ///   - days: how long it is valid, from an hour ago on, for clocks that are slow; 1 to 36,500.
    /// - Returns: the identity.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidCertificate`` that says which name can't be one.
    public static func selfSigned(for names: [String], days: Int = 397) throws(SocketError) -> TLSIdentity {
        try CertificateMaker(names: names).make(validFrom: -3_600, until: days * 86_400)
    }
}

/// Makes certificates; for tests also those that ``TLSIdentity/selfSigned(for:days:)`` doesn't.
package struct CertificateMaker {
    package var names: [String]
    /// Whether it may issue others.
    package var isAuthority = false
    /// Who signs it; itself when there is none.
    package var issuer: TLSIdentity?
    /// Whether the names are alternative names, and not the first one a common name only.
    package var hasAlternatives = true
    /// What its key may be used for, by OpenSSL's names.
    package var usage = "serverAuth,clientAuth"

    package init(names: [String]) {
        self.names = names
    }

    /// Makes a key pair and its certificate.
    ///
    /// - Parameters:
    ///   - start: when it becomes valid, in seconds from now.
    ///   - end: when it ceases to be valid, in seconds from now.
    /// - Returns: the identity, with the chain of its issuer.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidCertificate``.
    package func make(validFrom start: Int, until end: Int) throws(SocketError) -> TLSIdentity {
        let alternatives = try alternativeNames()
        OpenSSLErrors.clear()
        guard let keyPointer = unsafe cduplex_generate_p256(), let certificate = unsafe X509_new() else {
            throw SocketError(.system, message: "OpenSSL has no memory: \(OpenSSLErrors.take()).")
        }
        let key = unsafe KeyReference(taking: keyPointer)
        let own = unsafe X509Reference(taking: certificate)
        let signer = issuer?.chain.first ?? own
        unsafe X509_set_version(certificate, 2)
        unsafe ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), .random(in: 1...(.max >> 1)))
        unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), start)
        unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), end)
        unsafe X509_set_pubkey(certificate, key.pointer)
        let name = unsafe X509_get_subject_name(certificate)
        let common = Array((names.first ?? "").utf8.prefix(64))
        unsafe X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, common, Int32(common.count), -1, 0)
        unsafe X509_set_issuer_name(certificate, X509_get_subject_name(signer.pointer))
        var isMade = true
        for (kind, value) in extensions(alternatives) {
            isMade = unsafe isMade && cduplex_add_extension(certificate, signer.pointer, kind, value) == 1
        }
        let signingKey = issuer?.key ?? key
        isMade = unsafe isMade && X509_sign(certificate, signingKey.pointer, EVP_sha256()) > 0
        if !isMade {
            throw SocketError(.invalidCertificate, message: "OpenSSL makes no certificate: \(OpenSSLErrors.take()).")
        }
        return try TLSIdentity([own] + (issuer?.chain ?? []), key, called: "the new certificate")
    }

    private func extensions(_ alternatives: String) -> [(Int32, String)] {
        var result = [
            (NID_basic_constraints, isAuthority ? "critical,CA:TRUE" : "critical,CA:FALSE"),
            (NID_key_usage, isAuthority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature"),
            (NID_subject_key_identifier, "hash"),
        ]
        if issuer != nil { result.append((NID_authority_key_identifier, "keyid")) }
        if !isAuthority {
            result.append((NID_ext_key_usage, usage))
            if hasAlternatives { result.append((NID_subject_alt_name, alternatives)) }
        }
        return result
    }

    /// The names in the form that OpenSSL reads, which has commas and colons of its own.
    private func alternativeNames() throws(SocketError) -> String {
        var result: [String] = []
        for name in names {
            if let address = try? SocketAddress(name, port: 0), address.scope == 0 {
                result.append("IP:\(address.host)")
                continue
            }
            let isName = name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                    UInt8(ascii: "_"), UInt8(ascii: "*"):
                    true
                default: isAuthority && byte == UInt8(ascii: " ")
                }
            }
            guard isName, (1...253).contains(name.utf8.count) else {
                throw SocketError(.invalidCertificate, message: "“\(name)” can't be the name of a host.")
            }
            result.append("DNS:\(name)")
        }
        if result.isEmpty { throw SocketError(.invalidCertificate, message: "A certificate needs a name.") }
        return result.joined(separator: ",")
    }
}
