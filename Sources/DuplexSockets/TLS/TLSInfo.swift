// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What was agreed upon for a connection that is secured.
public struct TLSInfo: Sendable {
    /// The version.
    public let version: TLSVersion
    /// The cipher suite, as it is registered, such as `TLS_AES_128_GCM_SHA256`.
    public let cipherSuite: String
    /// The protocol that ALPN has chosen; `nil` for none.
    public let applicationProtocol: String?
    /// The name that the client has asked for; `nil` for none.
    public let serverName: String?
    /// Whether an earlier session was resumed.
    public let isResumed: Bool
    /// What the peer has shown, its own certificate first; empty for a client that showed none.
    ///
    /// Read from the connection each time it is asked for.
    public var peerCertificates: [TLSCertificate] { peer.compactMap { try? TLSCertificate(der: $0) } }

    let peer: [[UInt8]]
    /// Whether the server has asked for a certificate and got none.
    package var lacksCertificate = false
}

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
