// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// The identity that two options name: a file of certificates, and one with the key, which may be the same.
struct IdentityFiles: Sendable {
    let certificate: String
    /// The file of the key; `nil` where the certificate's has it, too.
    let key: String?
    /// The option that names the key, for errors.
    let keyOption: String

    /// Reads the files.
    ///
    /// - Throws: `SocketError` when a file lacks what it should have; it says which option names the key.
    func load() throws -> TLSIdentity {
        do {
            return try .pem(certificates: certificate, key: key ?? certificate)
        } catch {
            guard error.code == .invalidCertificate, hasCertificates else { throw error }
            throw SocketError(.invalidCertificate, message: "\(error.message) \(hint)")
        }
    }

    /// With certificates in order, what failed was the key.
    private var hasCertificates: Bool { (try? TLSCertificate.pem(at: certificate)) != nil }

    private var hint: String {
        if let key { return "\(keyOption) is “\(key.visible)”." }
        return "Name the file of the key with \(keyOption): `duplex cert` makes key.pem."
    }
}
