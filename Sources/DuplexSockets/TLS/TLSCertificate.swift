// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

internal import CDuplexOpenSSL

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An X.509 certificate, as its fields (RFC 5280).
public struct TLSCertificate: Sendable, Hashable {
    /// The certificate in DER.
    public let der: [UInt8]
    /// Whom it names, such as `CN=example.com,O=Example`.
    public let subject: String
    /// Who issued it.
    public let issuer: String
    /// The DNS names and addresses that it is for.
    public let names: [String]
    /// When it becomes valid.
    public let notBefore: UnixTime
    /// When it ceases to be valid.
    public let notAfter: UnixTime
    /// The kind of its key, such as `id-ecPublicKey` or `rsaEncryption`.
    package let keyType: String
    /// The size of its key in bits.
    package let keyBits: Int
    /// The SHA-256 of its public key's SubjectPublicKeyInfo in the form of pins, `sha256/` and base64 (RFC 7469).
    ///
    /// Stays the same when a certificate is renewed for the same key.
    public let pin: String
    /// The SHA-256 of the whole certificate as hexadecimal digits.
    public let fingerprint: String

    /// Reads a certificate in DER.
    ///
    /// - Parameter der: one certificate and nothing after it.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidCertificate``.
    public init(der: [UInt8]) throws(SocketError) {
        self.init(try X509Reference(der: der))
    }

    init(_ certificate: X509Reference) {
        der = certificate.der
        subject = certificate.name(.subject)
        issuer = certificate.name(.issuer)
        names = certificate.alternativeNames
        notBefore = certificate.time(.notBefore)
        notAfter = certificate.time(.notAfter)
        (keyType, keyBits) = certificate.key
        pin = certificate.pin
        fingerprint = certificate.fingerprint
    }

    /// Reads the certificates of a PEM file, in their order.
    ///
    /// Blocks while the file is read.
    ///
    /// - Parameter path: of a file with one certificate or more.
    /// - Returns: the certificates.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidCertificate``: no such file, or none in it.
    public static func pem(at path: String) throws(SocketError) -> [TLSCertificate] {
        try PEMReader.certificates(in: PEMReader.open(path), called: path).map { TLSCertificate($0) }
    }

    /// The certificate as PEM, with a line end at the end.
    public var pem: String {
        get throws(SocketError) { try X509Reference(der: der).pem }
    }

    /// What people call it: its common name, else its first name, else all of its subject.
    var shortName: String {
        let common = subject.split(separator: ",").first { $0.hasPrefix("CN=") }
        return common.map { String($0.dropFirst(3)) } ?? names.first ?? subject
    }
}

extension TLSCertificate: CustomStringConvertible {
    /// Its subject, its names, and its end, on one line.
    public var description: String {
        "\(subject) (for \(names.joined(separator: ", ")); valid until \(notAfter); issued by \(issuer))"
    }
}
