// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

internal import CDuplexOpenSSL
package import DuplexWire

/// The digests of the scheme Digest by OpenSSL (RFC 7616 section 6.1).
package enum HTTPDigest {
    /// The digest of any bytes; `nil` where this OpenSSL doesn't have the algorithm, such as MD5 in FIPS mode.
    package static func digest(_ algorithm: DigestAlgorithm, _ bytes: [UInt8]) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let type: OpaquePointer?
        switch algorithm {
        case .md5: unsafe type = EVP_md5()
        case .sha256: unsafe type = EVP_sha256()
        case .sha512256: unsafe type = EVP_sha512_256()
        }
        // One call with two arrays whose lengths are given or fixed; it keeps neither.
        guard unsafe EVP_Digest(bytes, bytes.count, &digest, &count, type, nil) == 1 else { return nil }
        return Array(digest.prefix(Int(count)))
    }

    /// A code over any bytes that only who has the key can make: HMAC with SHA-256 (RFC 2104).
    package static func code(_ key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        var count = 0
        // One call with arrays whose lengths are given; it keeps none.
        let result = unsafe EVP_Q_mac(
            nil,
            "HMAC",
            nil,
            "SHA256",
            nil,
            key,
            key.count,
            bytes,
            bytes.count,
            &code,
            code.count,
            &count
        )
        // Every OpenSSL has both. Going on without would have anybody make codes.
        guard unsafe result != nil else { preconditionFailure("OpenSSL has no HMAC.") }
        return code
    }

    /// Random bytes for a number that is used once.
    static func nonce() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<24).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
}

/// A digest of bytes that come in pieces, by OpenSSL.
@safe package final class RunningDigest {
    /// How the digest is made.
    package enum Algorithm: Sendable {
        case md5, sha1, sha256
    }

    // Made by OpenSSL, freed here, and never given to anybody.
    private let context: OpaquePointer

    /// Begins with no bytes; `nil` where this OpenSSL doesn't have the algorithm, such as MD5 in FIPS mode.
    package init?(_ algorithm: Algorithm) {
        let type: OpaquePointer?
        switch algorithm {
        case .md5: unsafe type = EVP_md5()
        case .sha1: unsafe type = EVP_sha1()
        case .sha256: unsafe type = EVP_sha256()
        }
        guard let context = unsafe EVP_MD_CTX_new() else { return nil }
        unsafe self.context = context
        if unsafe EVP_DigestInit_ex(context, type, nil) != 1 { return nil }
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    /// Adds the bytes that follow.
    package func add(_ bytes: [UInt8]) {
        // An array with its length; it isn't kept.
        let result = unsafe EVP_DigestUpdate(context, bytes, bytes.count)
        precondition(result == 1, "OpenSSL can't digest.")
    }

    /// The digest of all of them; nothing is added behind it.
    package func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        // An array with room for the longest.
        let result = unsafe EVP_DigestFinal_ex(context, &digest, &count)
        precondition(result == 1, "OpenSSL can't digest.")
        return Array(digest.prefix(Int(count)))
    }
}

/// SHA-1 by OpenSSL, for the accept value of the opening handshake (RFC 6455 section 4.2.2).
///
/// Nothing here is secret.
package enum SHA1 {
    /// Loads what the first digest needs, so that no connection waits for it: about a millisecond and 2 MB of OpenSSL.
    package static func load() {
        _ = digest([])
    }

    /// The 20 bytes of the digest.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(SHA_DIGEST_LENGTH))
        // One call with two arrays whose lengths are given or fixed; it keeps neither.
        _ = unsafe CDuplexOpenSSL.SHA1(bytes, bytes.count, &digest)
        return digest
    }
}
