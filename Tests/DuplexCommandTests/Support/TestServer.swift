// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWebSockets
import DuplexWire

/// Runs `body` beside a server in this process, with the URL of its WebSocket at `/`.
func withWebSocketServer<Result: Sendable>(
    _ handler: @escaping @Sendable (isolated WebSocket) async throws -> Void,
    _ body: @escaping @Sendable (String) async throws -> Result
) async throws -> Result {
    var server = WebServer(port: 0)
    server.webSocket("/", handler: handler)
    return try await withServer(server, body)
}

/// Runs `body` beside a server in this process, with the URL of its root.
func withServer<Result: Sendable>(
    _ server: WebServer,
    _ body: @escaping @Sendable (String) async throws -> Result
) async throws -> Result {
    try await server.withRunning { address in try await body("ws://localhost:\(address.port)/") }
}

/// Receives until the peer closes, and answers nothing.
func listen(_ socket: isolated WebSocket) async throws {
    for try await _ in socket.messages {}
}
