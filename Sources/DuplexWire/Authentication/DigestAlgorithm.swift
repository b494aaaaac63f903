// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A function by which bytes are digested (RFC 7616 section 6.1); later ones are stronger.
public enum DigestAlgorithm: Int, Sendable, Hashable, CaseIterable {
    /// RFC 1321; broken for signatures, and all that many servers know.
    case md5
    /// SHA-256 (FIPS 180-4).
    case sha256
    /// SHA-512/256 (FIPS 180-4 section 6.7), which isn't SHA-512 cut short.
    case sha512256

    /// The name in a challenge.
    package var name: String {
        switch self {
        case .md5: "MD5"
        case .sha256: "SHA-256"
        case .sha512256: "SHA-512-256"
        }
    }

    /// The bytes of a digest.
    var length: Int { self == .md5 ? 16 : 32 }
}
