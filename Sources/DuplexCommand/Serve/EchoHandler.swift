// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire

/// Sends every message back from within the call that brings it: the synchronous way to handle a connection.
struct EchoHandler: WebSocketHandler {
    func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
        socket.enqueue(bytes, kind)
    }
}

/// Sends every message back, one after the other, until the peer closes: the `async` way.
func echo(_ socket: isolated WebSocket) async throws {
    for try await message in socket.messages { try await socket.send(message) }
}
