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

    /// Random bytes for a number that is used once.
    static func nonce() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<24).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
}
