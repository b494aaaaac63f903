// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The header of a proxy about the connection that it forwards (PROXY protocol, versions 1 and 2, by haproxy).
public struct ProxyHeader: Sendable, Hashable {
    /// The forms that a header comes in.
    public enum Version: Sendable, Hashable {
        /// A line of text.
        case v1
        /// Binary.
        case v2
    }

    /// The form that it came in.
    public let version: Version
    /// Whether the proxy connects on its own behalf, such as to see whether the server lives (`LOCAL`).
    public let isLocal: Bool
    /// The client's address; `nil` when the proxy connects for itself or doesn't name the client, and for a Unix socket
    /// without a name.
    public let source: SocketAddress?
    /// What the client connected to; `nil` as ``source``.
    public let destination: SocketAddress?
    /// Further fields, in their order; only version 2 has them.
    public let fields: [Field]

    /// Something that the proxy adds (a TLV), such as the host name that the client asked for.
    public struct Field: Sendable, Hashable {
        /// The kind of the field.
        public let kind: Kind
        /// The bytes, unparsed.
        public let value: [UInt8]

        /// The kind of a field: a number from the list of the specification, section 2.2.
        public struct Kind: RawRepresentable, Sendable, Hashable {
            /// The number.
            public let rawValue: UInt8

            /// Makes a kind of its number.
            public init(rawValue: UInt8) {
                self.rawValue = rawValue
            }

            /// The protocol above, as ALPN names it.
            public static let alpn = Kind(rawValue: 0x01)
            /// The host name that the client asked for, in UTF-8.
            public static let authority = Kind(rawValue: 0x02)
            /// The checksum of the header, which has been verified.
            public static let checksum = Kind(rawValue: 0x03)
            /// Nothing: it fills space.
            public static let padding = Kind(rawValue: 0x04)
            /// The proxy's id of the connection.
            public static let uniqueID = Kind(rawValue: 0x05)
            /// How the client's connection was secured, with fields of its own inside.
            public static let tls = Kind(rawValue: 0x20)
            /// The name of the network namespace.
            public static let networkNamespace = Kind(rawValue: 0x30)
        }
    }

    /// The bytes of the first field of a kind; `nil` when there is none.
    public func value(of kind: Field.Kind) -> [UInt8]? {
        fields.first { $0.kind == kind }?.value
    }
}
