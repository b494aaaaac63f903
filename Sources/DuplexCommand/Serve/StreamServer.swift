// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Logging

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
