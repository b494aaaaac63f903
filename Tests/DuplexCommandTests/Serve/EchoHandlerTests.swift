// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexCommand

@Suite("The echo", .timeLimit(minutes: 1))
struct EchoHandlerTests {
    @Test("Both kinds of handler send every message back as what it was, in order", arguments: [true, false])
    func echoes(isSynchronous: Bool) async throws {
        var server = WebServer(port: 0)
        if isSynchronous {
            server.webSocket("/", handler: EchoHandler())
        } else {
            server.webSocket("/") { socket in try await echo(socket) }
        }
        let messages: [Message] = [
            "hi", .binary([0, 255]), "", .binary([]), .text(String(repeating: "x", count: 100_000)),
        ]
        try await withServer(server) { url in
            let socket = try await WebSocket.connect(to: url)
            for message in messages { try await socket.send(message) }
            for message in messages { #expect(try await socket.receive() == message) }
            #expect(await socket.close().code == .normalClosure)
        }
    }
}
