// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTesting
import Testing

@Suite("A server at work on its loops")
struct ServingLoopsTests {
    @Test("It serves connections wherever they come from, tells what is under way, and ends")
    func serving() async throws {
        try await TestLoop.run { loop in
            var server = WebServer(port: 0)
            server.logger = RecordedLog().logger
            server.get("/slow") { _ in
                let (never, continuation) = AsyncStream<Never>.makeStream()
                defer { continuation.finish() }
                for await _ in never {}
                return "cancelled"
            }
            let serving = try ServingLoops(server, on: loop.group)
            #expect(await !serving.hasConnections)
            let link = MemoryLink()
            await loop.loop.make { core in
                serving.accept(link.channel(.far, on: loop.loop, core), from: nil, on: loop.loop)
            }
            let peer = RawPeer(await link.socket(.near, on: loop.loop), masks: true)
            try await peer.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await loop.settle()
            #expect(await serving.hasConnections)
            #expect(await serving.runningRoutes == ["GET /slow"])
            serving.beginToEnd()
            #expect(try await peer.readResponse().text == "cancelled")
            await peer.close()
            await serving.end(leavingHandlers: false)
            #expect(await !serving.hasConnections)
            #expect(await serving.runningRoutes == [])
        }
    }

    @Test("The end makes haste with a shorter limit, and doesn't with a longer one", arguments: [true, false])
    func haste(isShorterFirst: Bool) async throws {
        try await TestLoop.run { loop in
            let (gates, gate) = AsyncStream<Never>.makeStream()
            // Waiting for it can't be cancelled.
            let opened = Task { for await _ in gates {} }
            var server = WebServer(port: 0)
            server.logger = RecordedLog().logger
            server.get("/slow") { _ async in
                await opened.value
                return "late"
            }
            let serving = try ServingLoops(server, on: loop.group)
            let link = MemoryLink()
            await loop.loop.make { core in
                serving.accept(link.channel(.far, on: loop.loop, core), from: nil, on: loop.loop)
            }
            let peer = RawPeer(await link.socket(.near, on: loop.loop), masks: true)
            try await peer.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await loop.settle()
            for limit in isShorterFirst ? [1, 3_600] : [3_600, 1] { serving.beginToEnd(within: .seconds(limit)) }
            await loop.advance(by: .milliseconds(900))
            #expect(await serving.hasConnections)
            await loop.advance(by: .milliseconds(200))
            #expect(await !serving.hasConnections)
            gate.finish()
            await serving.end(leavingHandlers: false)
        }
    }

    @Test("Routes that contradict each other are an error before anything runs")
    func routes() async throws {
        try await TestLoop.run { loop in
            var server = WebServer(port: 0)
            server.get("no slash") { _ in "" }
            #expect(throws: RouteError.self) { try ServingLoops(server, on: loop.group) }
        }
    }
}
