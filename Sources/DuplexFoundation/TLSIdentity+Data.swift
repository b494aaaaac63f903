// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension TLSIdentity {
    /// Reads a certificate with its chain, and a private key, from PEM text in UTF-8; as `pem(certificates:key:password:)` of texts.
    ///
    /// - Parameters:
    ///   - certificates: the certificates, the key's own one first.
    ///   - key: the private key.
    ///   - password: of a key that is encrypted.
    /// - Returns: the identity.
    /// - Throws: as `pem(certificates:key:password:)` of texts.
    public static func pem(
        certificates: Data,
        key: Data,
        password: String? = nil
    ) throws(SocketError) -> TLSIdentity {
        try pem(
            certificates: String(decoding: certificates, as: UTF8.self),
            key: String(decoding: key, as: UTF8.self),
            password: password
        )
    }

    /// Reads PKCS #12 from memory (RFC 7292); as `pkcs12(bytes:password:)`.
    ///
    /// - Parameters:
    ///   - data: the bytes of a `.p12` or `.pfx` file.
    ///   - password: that it is encrypted with.
    /// - Returns: the identity.
    /// - Throws: as `pkcs12(bytes:password:)`.
    public static func pkcs12(_ data: Data, password: String) throws(SocketError) -> TLSIdentity {
        try pkcs12(bytes: [UInt8](data), password: password)
    }
}
