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

    /// Reads a certificate with its chain, and a private key, from PEM files, which may be the same.
    ///
    /// Blocks while the files are read.
    ///
    /// - Parameters:
    ///   - certificates: the path of the certificates, the key's own one first.
    ///   - key: the path of the private key.
    ///   - password: of a key that is encrypted.
    /// - Returns: the identity.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidCertificate`` that says which file lacks what.
    public static func pem(
        certificates: String,
        key: String,
        password: String? = nil
    ) throws(SocketError) -> TLSIdentity {
        let chain = try PEMReader.certificates(in: PEMReader.open(certificates), called: "“\(certificates)”")
        let key = try PEMReader.key(in: PEMReader.open(key), called: "“\(key)”", password: password)
        return try TLSIdentity(chain, key, called: "“\(certificates)”")
    }

    /// Reads a certificate with its chain, and a private key, from PEM text; see ``pem(certificates:key:password:)``.
    public static func pem(
        certificateBytes: [UInt8],
        keyBytes: [UInt8],
        password: String? = nil
    ) throws(SocketError) -> TLSIdentity {
        let chain = try PEMReader.certificates(in: PEMReader.bytes(certificateBytes), called: "the text")
        let key = try PEMReader.key(in: PEMReader.bytes(keyBytes), called: "the text", password: password)
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
}
