// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

internal import CDuplexOpenSSL
package import DuplexWire

/// The digests of the scheme Digest by OpenSSL (RFC 7616 section 6.1).
package enum HTTPDigest {
    /// The digest of any bytes; `nil` where this OpenSSL doesn't have the algorithm, such as MD5 in FIPS mode.
    package static func digest(_ algorithm: DigestChallenge.Algorithm, _ bytes: [UInt8]) -> [UInt8]? {
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
