// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The target of a connection.
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    enum Target: Sendable, Hashable {
        case host(String, port: Int)
        case address(SocketAddress)
        case unix(String)
    }

    let target: Target
    /// Whether the connection is to be secured with TLS.
    package let isSecured: Bool

    init(_ target: Target, isSecured: Bool = false) {
        self.target = target
        self.isSecured = isSecured
    }

    /// A host by name or by literal address, and a port.
    ///
    /// - Parameters:
    ///   - name: a host name, or an IPv4 or IPv6 address, the latter with or without brackets, and with a zone where it needs
    ///     one, as in `fe80::1%eth0`.
    ///   - port: the port, 1 to 65,535.
    /// - Returns: the endpoint.
    public static func host(_ name: String, port: Int) -> Endpoint {
        Endpoint(.host(withoutBrackets(name), port: port))
    }

    /// A host by name or by literal address, and a port, with TLS.
    ///
    /// The name is what the host's certificate has to be for.
    ///
    /// - Parameters:
    ///   - name: as in ``host(_:port:)``.
    ///   - port: the port, 1 to 65,535.
    /// - Returns: the endpoint.
    public static func tls(_ name: String, port: Int) -> Endpoint {
        Endpoint(.host(withoutBrackets(name), port: port), isSecured: true)
    }

    /// A known address.
    public static func address(_ address: SocketAddress) -> Endpoint {
        Endpoint(.address(address))
    }

    /// A Unix socket on this machine.
    ///
    /// - Parameter path: of a file; or, on Linux, `@` and a name that isn't a file's.
    /// - Returns: the endpoint.
    public static func unix(_ path: String) -> Endpoint {
        Endpoint(.unix(path))
    }

    /// The name, or the literal address without its zone, that the certificate of a secured endpoint has to be for.
    package var serverName: String? { isSecured ? host : nil }

    private static func withoutBrackets(_ name: String) -> String {
        name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name
    }

    /// The name or literal address of the host, without a zone; `nil` for a Unix socket.
    var host: String? {
        switch target {
        case .host(let name, _): Self.withoutZone(name)
        case .address(let address): address.path == nil ? Self.withoutZone(address.host) : nil
        case .unix: nil
        }
    }

    private static func withoutZone(_ host: String) -> String {
        host.contains(":") ? String(host.prefix { $0 != "%" }) : host
    }

    /// What it is, for people.
    public var description: String {
        let prefix = isSecured ? "tls://" : ""
        return switch target {
        case .host(let name, let port): prefix + (name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)")
        case .address(let address): prefix + address.description
        case .unix(let path): "unix:\(path)"
        }
    }
}
