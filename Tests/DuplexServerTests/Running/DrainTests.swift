// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

@Suite(.timeLimit(minutes: 1)) struct DrainTests {
    @Test("WebSockets are closed in batches, with the code and the reason; who waits for a batch is still served")
    func inBatches() async throws {
        try await withMemoryServer { server in
            server.drain = Drain(code: .serviceRestart, reason: "back soon", over: .seconds(2))
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { server in
            var clients: [WebSocket] = []
            for _ in 0..<8 { clients.append(try await server.webSocket()) }
            await server.beginToEnd()
            for left in (0..<8).reversed() {
                clients = try await Self.stillServed(clients)
                #expect(clients.count == left)
                await server.loop.advance(by: .seconds(2) / 7)
            }
        }
    }

    @Test("Very many are closed in several turns, with the server's code, though their handlers are tasks")
    func manyTurns() async throws {
        try await withMemoryServer { server in
            server.drain = Drain(code: .serviceRestart)
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { server in
            var clients: [WebSocket] = []
            for _ in 0..<300 { clients.append(try await server.webSocket()) }
            guard case .manual(let time) = server.loop.loop.clock else {
                Issue.record("The loop has the machine's clock.")
                return
            }
            // Each look at the clock takes as long as a share of a turn.
            time.pass(.milliseconds(5))
            await server.beginToEnd()
            time.pass(.zero)
            for client in clients {
                await #expect(throws: WebSocketError.self) { try await client.receive() }
                #expect(await client.close().received?.code == .serviceRestart)
            }
        }
    }

    /// Those of the clients that get an echo; the others were closed as the server was told to.
    private static func stillServed(_ clients: [WebSocket]) async throws -> [WebSocket] {
        var served: [WebSocket] = []
        for client in clients {
            do {
                try await client.send("still here?")
                #expect(try await client.receive() == .text("still here?"))
                served.append(client)
            } catch {
                let report = await client.close()
                #expect(report.received?.code == .serviceRestart && report.received?.reason == "back soon", "\(error)")
                #expect(report.isClean && report.initiator == .remote)
            }
        }
        return served
    }
}
