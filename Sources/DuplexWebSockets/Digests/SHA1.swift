// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

internal import CDuplexOpenSSL

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
