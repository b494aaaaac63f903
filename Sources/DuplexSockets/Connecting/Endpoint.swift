// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Where a socket connects to.
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    enum Target: Sendable, Hashable {
        case host(String, port: Int)
        case address(SocketAddress)
        case unix(String)
    }

    let target: Target

    /// A host by name or by literal address, and a port.
    ///
    /// - Parameters:
    ///   - name: a host name, or an IPv4 or IPv6 address, the latter with or without brackets.
    ///   - port: the port, 1 to 65,535.
    /// - Returns: the endpoint.
    public static func host(_ name: String, port: Int) -> Endpoint {
        let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
        return Endpoint(target: .host(isBracketed ? String(name.dropFirst().dropLast()) : name, port: port))
    }

    /// An address that is known already.
    public static func address(_ address: SocketAddress) -> Endpoint {
        Endpoint(target: .address(address))
    }

    /// A Unix socket on this machine.
    ///
    /// - Parameter path: of a file; or, on Linux, `@` and a name that isn't a file's.
    /// - Returns: the endpoint.
    public static func unix(_ path: String) -> Endpoint {
        Endpoint(target: .unix(path))
    }

    /// The name or literal address of the host; `nil` for a Unix socket.
    var host: String? {
        switch target {
        case .host(let name, _): name
        case .address(let address): address.path == nil ? address.host : nil
        case .unix: nil
        }
    }

    /// What it is, for people.
    public var description: String {
        switch target {
        case .host(let name, let port): name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)"
        case .address(let address): address.description
        case .unix(let path): "unix:\(path)"
        }
    }
}
