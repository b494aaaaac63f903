// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

internal import CDuplexOpenSSL

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
