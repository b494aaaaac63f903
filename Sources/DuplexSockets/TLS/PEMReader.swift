// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

internal import CDuplexOpenSSL

/// Reads certificates and keys from PEM and PKCS #12, from files or from memory.
@safe struct PEMReader: ~Copyable {
    private let bio: OpaquePointer

    private init(_ bio: OpaquePointer) {
        unsafe self.bio = unsafe bio
    }

    deinit {
        unsafe BIO_free(bio)
    }

    static func open(_ path: String) throws(SocketError) -> PEMReader {
        OpenSSLErrors.clear()
        guard let bio = unsafe BIO_new_file(path, "r") else {
            throw SocketError(.invalidCertificate, message: "“\(path)” can't be read: \(OpenSSLErrors.take()).")
        }
        return unsafe PEMReader(bio)
    }

    /// Reads a copy of the bytes.
    static func bytes(_ bytes: [UInt8]) throws(SocketError) -> PEMReader {
        guard let bio = unsafe BIO_new(BIO_s_mem()) else {
            throw SocketError(.system, message: "OpenSSL has no memory.")
        }
        let reader = unsafe PEMReader(bio)
        _ = unsafe BIO_write(bio, bytes, Int32(clamping: bytes.count))
        return reader
    }

    /// All certificates, at least one.
    static func certificates(in reader: consuming PEMReader, called name: String) throws(SocketError) -> [X509Reference]
    {
        OpenSSLErrors.clear()
        var result: [X509Reference] = []
        while let certificate = unsafe PEM_read_bio_X509(reader.bio, nil, nil, nil) {
            unsafe result.append(X509Reference(taking: certificate))
        }
        let end = OpenSSLErrors.take()
        if result.isEmpty {
            throw SocketError(.invalidCertificate, message: "There is no certificate in \(name): \(end).")
        }
        return result
    }

    /// The private key.
    ///
    /// - Parameters:
    ///   - reader: over the file.
    ///   - name: what errors call it.
    ///   - password: for a key that is encrypted.
    /// - Returns: the key.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidCertificate``.
    static func key(
        in reader: consuming PEMReader,
        called name: String,
        password: String?
    ) throws(SocketError) -> KeyReference {
        OpenSSLErrors.clear()
        let password = Password(password)
        let context = unsafe Unmanaged.passUnretained(password).toOpaque()
        let key = unsafe PEM_read_bio_PrivateKey(reader.bio, nil, { unsafe Password.give($0, $1, $2, $3) }, context)
        withExtendedLifetime(password) {}
        if let key = unsafe key { return unsafe KeyReference(taking: key) }
        let reason = OpenSSLErrors.take()
        if password.wasAsked {
            let hint =
                password.text == nil ? "is encrypted and needs a password" : "can't be decrypted with this password"
            throw SocketError(.invalidCertificate, message: "The private key in \(name) \(hint).")
        }
        throw SocketError(.invalidCertificate, message: "There is no private key in \(name): \(reason).")
    }

    /// The key and the certificates of a PKCS #12 file (RFC 7292), the key's own certificate first.
    static func pkcs12(
        in reader: consuming PEMReader,
        called name: String,
        password: String
    ) throws(SocketError) -> (KeyReference, [X509Reference]) {
        OpenSSLErrors.clear()
        guard let container = unsafe d2i_PKCS12_bio(reader.bio, nil) else {
            throw SocketError(.invalidCertificate, message: "\(name) is not PKCS #12: \(OpenSSLErrors.take()).")
        }
        defer { unsafe PKCS12_free(container) }
        var (key, certificate, others) = unsafe (OpaquePointer?.none, OpaquePointer?.none, OpaquePointer?.none)
        let isOpen = unsafe PKCS12_parse(container, password, &key, &certificate, &others) == 1
        let reason = OpenSSLErrors.take()
        defer { unsafe cduplex_certificates_free(others) }
        let keyReference = unsafe key.map { unsafe KeyReference(taking: $0) }
        let own = unsafe certificate.map { unsafe X509Reference(taking: $0) }
        guard isOpen else {
            throw SocketError(.invalidCertificate, message: "\(name) can't be opened with this password: \(reason).")
        }
        guard let keyReference, let own else {
            throw SocketError(.invalidCertificate, message: "\(name) lacks a private key or its certificate.")
        }
        var chain = [own]
        for index in 0..<(unsafe cduplex_certificate_count(others)) {
            if let other = unsafe cduplex_certificate_at(others, index) {
                unsafe chain.append(X509Reference(sharing: other))
            }
        }
        return (keyReference, chain)
    }
}

/// A private key in the form of OpenSSL.
// `@unchecked`: the pointer isn't Sendable. A key isn't changed after it was read, and using it for signatures is free of
// races (openssl-threads(7)).
@safe final class KeyReference: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over one reference.
    init(taking pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    deinit {
        unsafe EVP_PKEY_free(pointer)
    }

    /// The key as PEM, not encrypted (PKCS #8).
    var pem: String {
        unsafe OpenSSLBytes.text { bio in _ = unsafe PEM_write_bio_PKCS8PrivateKey(bio, pointer, nil, nil, 0, nil, nil)
        }
    }
}

/// The password that OpenSSL asks for by a function, so that it doesn't ask the terminal.
private final class Password {
    let text: String?
    private(set) var wasAsked = false

    init(_ text: String?) {
        self.text = text
    }

    static func give(
        _ buffer: UnsafeMutablePointer<CChar>?,
        _ size: Int32,
        _ isForWriting: Int32,
        _ context: UnsafeMutableRawPointer?
    ) -> Int32 {
        guard let buffer = unsafe buffer, let context = unsafe context else { return -1 }
        let password = unsafe Unmanaged<Password>.fromOpaque(context).takeUnretainedValue()
        password.wasAsked = true
        guard let text = password.text, text.utf8.count <= Int(size) else { return -1 }
        for (index, byte) in text.utf8.enumerated() { unsafe buffer[index] = CChar(bitPattern: byte) }
        return Int32(text.utf8.count)
    }
}
