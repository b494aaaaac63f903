// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets

/// Runs the body with a port of 127.0.0.1 that nobody listens on, and that nobody else gets meanwhile.
@discardableResult
package func withReservedPort<Result>(_ body: (SocketAddress) async throws -> Result) async throws -> Result {
    let port = try ReservedPort()
    defer { withExtendedLifetime(port) {} }
    return try await body(port.address)
}
