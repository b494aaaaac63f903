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
        let timeline = TimelineJSON(await socket.timeline)
        #expect(Set(timeline.steps.map(\.name)).isSuperset(of: ["connecting", "upgrade"]))
        #expect(timeline.steps.allSatisfy { 0 <= $0.start && $0.start <= $0.end && $0.end <= timeline.total })
        #expect(timeline.attempts.map(\.address) == ["127.0.0.1:\(running.addresses[0].port)"])
        #expect(timeline.attempts.first?.outcome.contains("connected") == true)
        await socket.close()
        await running.stop()
    }
}
