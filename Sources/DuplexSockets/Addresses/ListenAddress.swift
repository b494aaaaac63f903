// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Where a listener listens.
public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// The interfaces that a TCP listener takes connections from.
    public enum Host: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// This machine only: 127.0.0.1 and ::1.
        case loopback
        /// All interfaces, IPv4 and IPv6.
        case any
        /// One address of this machine, as a literal.
        case address(String)

        /// `localhost` is ``loopback``, `*` is ``any``, anything else is taken as a literal address.
        public init(_ text: String) {
            switch text {
            case "localhost": self = .loopback
            case "*", "": self = .any
            default: self = .address(text)
            }
        }

        /// Makes a value of a literal.
        public init(stringLiteral value: String) {
            self.init(value)
        }

        /// What it is, for people.
        public var description: String {
            switch self {
            case .loopback: "localhost"
            case .any: "*"
            case .address(let literal): literal
            }
        }
    }

    let host: Host
    let port: Int

    /// A TCP port; 0 has the system choose a free one.
    ///
    /// - Parameters:
    ///   - host: which interfaces; this machine only unless told otherwise.
    ///   - port: the port, 0 to 65,535.
    /// - Returns: the address.
    public static func tcp(host: Host = .loopback, port: Int) -> ListenAddress {
        ListenAddress(host: host, port: port)
    }

    /// What it is, for people.
    public var description: String {
        "\(host):\(port)"
    }

    /// The addresses to bind; whether each of them must succeed, or any of them is enough.
    func socketAddresses() throws(SocketError) -> [SocketAddress] {
        switch host {
        case .loopback: [try SocketAddress("127.0.0.1", port: port), try SocketAddress("::1", port: port)]
        case .any: [try SocketAddress("0.0.0.0", port: port), try SocketAddress("::", port: port)]
        case .address(let literal): [try SocketAddress(literal, port: port)]
        }
    }
}
