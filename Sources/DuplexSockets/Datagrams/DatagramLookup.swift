// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Finds the addresses of where datagrams are to go.
enum DatagramLookup {
    /// The addresses of an endpoint, the most preferred first.
    ///
    /// - Parameters:
    ///   - endpoint: a host and port, or an address.
    ///   - resolver: looks a name up.
    ///   - timeout: how long looking a name up may take.
    ///   - loop: whose timers are used.
    /// - Returns: at least one address.
    /// - Throws: ``SocketError`` or `CancellationError`.
    static func addresses(
        of endpoint: Endpoint,
        by resolver: any Resolver,
        within timeout: Duration,
        on loop: EventLoop
    ) async throws -> [SocketAddress] {
        try SocketError.check([DurationSetting("timeout", timeout)])
        try Task.checkCancellation()
        if case .address(let address) = endpoint.target { return [address] }
        guard case .host(let host, let port) = endpoint.target else {
            throw SocketError(.invalidAddress, message: "No datagrams can go to \(endpoint).")
        }
        guard (1...65_535).contains(port) else {
            throw SocketError(.invalidAddress, message: "\(port) is not a port: ports go from 1 to 65535.")
        }
        if let literal = try? SocketAddress(host, port: port) { return [literal] }
        let resolution = try await LookupDeadline.resolve(resolver, host, within: timeout, on: loop)
        return resolution.addresses.map { address in
            var address = address
            address.port = port
            return address
        }
    }
}
