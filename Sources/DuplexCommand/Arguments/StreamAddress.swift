// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets

/// Where `duplex serve` takes streams of bytes: `tcp://host:port`, `tls://host:port` or `unix:path`.
struct StreamAddress: ExpressibleByArgument, Sendable, Hashable {
    let address: ListenAddress
    let isSecured: Bool
    /// What was written.
    let text: String
    /// The URL up to the host, for what is printed.
    private let scheme: String

    init?(argument: String) {
        text = argument
        if argument.hasPrefix("unix:") {
            guard let endpoint = try? Endpoint(argument) else { return nil }
            address = .unix(String(endpoint.description.dropFirst(5)))
            (isSecured, scheme) = (false, "unix:")
            return
        }
        guard let scheme = ["tcp://", "tls://"].first(where: argument.hasPrefix) else { return nil }
        let rest = argument.dropFirst(scheme.count)
        guard let colon = rest.lastIndex(of: ":"), let port = Int(rest[rest.index(after: colon)...]),
            (0...65_535).contains(port)
        else { return nil }
        let host = rest[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if host.contains(":") && !isBracketed { return nil }
        address = .tcp(host: ListenAddress.Host(String(isBracketed ? host.dropFirst().dropLast() : host)), port: port)
        (isSecured, self.scheme) = (scheme == "tls://", scheme)
    }

    /// The URL of what is listened on, with the actual port.
    func url(of bound: SocketAddress) -> String {
        if let path = bound.path { return "unix:\(path)" }
        return scheme + "\(bound)"
    }
}
