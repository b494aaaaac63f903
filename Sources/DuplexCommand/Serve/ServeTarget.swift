// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets
import Logging

/// What `duplex serve` serves where something is given: a stream of bytes, or a folder.
enum ServeTarget: ExpressibleByArgument, Sendable, Hashable {
    case stream(StreamAddress)
    case folder(String)

    init?(argument: String) {
        if let stream = StreamAddress(argument: argument) {
            self = .stream(stream)
        } else if argument.isEmpty || argument.contains("://") || argument.hasPrefix("unix:") {
            return nil
        } else {
            self = .folder(argument)
        }
    }

    var stream: StreamAddress? {
        if case .stream(let stream) = self { stream } else { nil }
    }
}

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
        address = .tcp(host: LocalHost(String(isBracketed ? host.dropFirst().dropLast() : host)), port: port)
        (isSecured, self.scheme) = (scheme == "tls://", scheme)
    }

    /// The URL of what is listened on, with the actual port.
    func url(of bound: SocketAddress) -> String {
        if let path = bound.path { return "unix:\(path)" }
        return scheme + "\(bound)"
    }
}

/// What `duplex serve tcp://…` runs: sends back what it gets (RFC 862), until the client ends its side.
struct StreamServer: Sendable {
    let address: ListenAddress
    let tls: TLSServerOptions?
    let group: EventLoopGroup

    /// Serves until the task is cancelled.
    ///
    /// - Parameter onListening: called with the address before the first connection is accepted.
    /// - Throws: `SocketError` when the address can't be had.
    func run(onListening: (SocketAddress) -> Void) async throws {
        let listener = try SocketListener.bind(address, on: group, tls: tls, logger: Logger(label: "duplex.serve"))
        onListening(listener.localAddress)
        do {
            try await listener.serve { socket in
                while let bytes = try await socket.read() { try await socket.write(bytes) }
            }
        } catch is CancellationError {
            // Interrupted: that is how it ends.
        }
    }
}
