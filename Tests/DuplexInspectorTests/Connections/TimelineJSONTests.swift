// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexWebSockets
import Testing

@testable import DuplexInspector

@Suite(.timeLimit(minutes: 1)) struct TimelineJSONTests {
    @Test("A client's handshake is told by its stages, each within the whole, and by the addresses that were tried")
    func client() async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.webSocket("/") { socket in for try await _ in socket.messages {} }
        let running = try await server.start()
        let socket = try await WebSocket.connect(to: "ws://127.0.0.1:\(running.addresses[0].port)/")
        let text = TimelineJSON.json(await socket.timeline).text
        #expect(text.contains(#""name":"connecting""#) && text.contains(#""name":"upgrade""#))
        #expect(text.contains(#""address":"127.0.0.1:\#(running.addresses[0].port)""#) && text.contains("connected"))
        await socket.close()
        await running.stop()
    }
}
