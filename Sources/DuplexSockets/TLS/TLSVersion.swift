// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A version of TLS; older ones than 1.2 are not spoken (RFC 8996).
public enum TLSVersion: Int32, Sendable, Hashable, Comparable, CustomStringConvertible {
    /// TLS 1.2 (RFC 5246).
    case tls12 = 0x0303
    /// TLS 1.3 (RFC 8446).
    case tls13 = 0x0304

    /// The later version is the greater one.
    public static func < (one: TLSVersion, other: TLSVersion) -> Bool { one.rawValue < other.rawValue }

    /// What it is called.
    public var description: String {
        switch self {
        case .tls12: "TLS 1.2"
        case .tls13: "TLS 1.3"
        }
    }
}
