// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// An echo with FlyingFox: prints its port, then serves until it is ended.

import FlyingFox
import Glibc

struct Echo: WSMessageHandler {
    func makeMessages(for client: AsyncStream<WSMessage>) async throws -> AsyncStream<WSMessage> { client }
}

// Its log would come before the port.
let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: 0), logger: .disabled)
await server.appendRoute("GET /echo", to: .webSocket(Echo()))
let running = Task { try await server.run() }
try await server.waitUntilListening()
if case .ip4(_, let port) = await server.listeningAddress { print(port) }
fflush(nil)
try await running.value
