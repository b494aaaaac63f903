// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Logging
import ServiceLifecycle
import Testing

@Suite("A client that reconnects, as a service", .timeLimit(minutes: 1))
struct ReconnectingWebSocketServiceTests {
    @Test("A graceful shutdown closes its connection with 1001, and its messages end")
    func gracefulShutdown() async throws {
        let (codes, closed) = AsyncStream<CloseCode?>.makeStream()
        try await withServer { server in
            server.webSocket("/") { socket in
                try await socket.send("open")
                for try await _ in socket.messages {}
                closed.yield(socket.closeReport.received?.code)
            }
        } _: { address in
            let client = ReconnectingWebSocket("ws://\(address)/")
            let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            let group = ServiceGroup(services: [client], logger: quiet)
            let running = Task { try await group.run() }
            var messages = client.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text("open"))
            await group.triggerGracefulShutdown()
            #expect(try await messages.next() == nil)
            try await running.value
            #expect(await client.state == .ended(.closed))
        }
        for await code in codes {
            #expect(code == .goingAway)
            break
        }
    }

    @Test("Cancelling it closes the connection, and it ends without an error")
    func cancelled() async throws {
        try await withServer { server in
            server.webSocket("/") { socket in for try await _ in socket.messages {} }
        } _: { address in
            let client = ReconnectingWebSocket("ws://\(address)/")
            let states = client.stateChanges
            let running = Task { try await client.run() }
            for await change in states { if case .open = change.state { break } }
            running.cancel()
            try await running.value
            #expect(await client.state == .ended(.closed))
        }
    }

    @Test("It fails when the policy gives up, and ends when the server has closed in order")
    func ended() async throws {
        try await withServer { server in
            server.get("/refused") { _ in Response(.forbidden) }
            server.webSocket("/closed") { socket in await socket.close() }
        } _: { address in
            let refused = ReconnectingWebSocket("ws://\(address)/refused")
            let error = await #expect(throws: WebSocketError.self) { try await refused.run() }
            #expect(error?.status == .forbidden)
            try await ReconnectingWebSocket("ws://\(address)/closed").run()
        }
    }
}
