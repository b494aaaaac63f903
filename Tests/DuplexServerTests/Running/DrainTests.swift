// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Logging
import Testing

@Suite(.timeLimit(.minutes(1))) struct DrainTests {
    @Test("WebSockets are closed in batches, with the code and the reason; who waits for a batch is still served")
    func inBatches() async throws {
        let group = try EventLoopGroup(loops: 1)
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.group = group
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        server.drain = Drain(code: .serviceRestart, reason: "back soon", over: .seconds(2))
        server.webSocket("/") { socket in for try await message in socket.messages { try await socket.send(message) } }
        let (addresses, tell) = AsyncStream<SocketAddress>.makeStream()
        let task = Task { [server] in try await server.run { tell.yield($0) } }
        var iterator = addresses.makeAsyncIterator()
        let address = try #require(await iterator.next())
        var clients: [WebSocket] = []
        for _ in 0..<8 { clients.append(try await WebSocket.connect(to: "ws://\(address)/")) }
        // Each is echoed to until it is told; the first are told while the last still get their echoes.
        let counts = try await withThrowingTaskGroup(of: Int.self) { tasks in
            let (echoed, first) = AsyncStream<Void>.makeStream()
            for client in clients { tasks.addTask { try await Self.echoes(until: client) { first.yield() } } }
            var echoes = echoed.makeAsyncIterator()
            for _ in clients { await echoes.next() }
            task.cancel()
            var counts: [Int] = []
            for try await count in tasks { counts.append(count) }
            return counts
        }
        #expect(counts.count == 8)
        #expect((counts.max() ?? 0) > (counts.min() ?? 0))
        try await task.value
        await group.stop()
    }

    /// How many echoes come until the server closes with what it was told to.
    private static func echoes(until client: WebSocket, first: () -> Void) async throws -> Int {
        var count = 0
        do {
            while true {
                try await client.send("still here?")
                _ = try await client.receive()
                count += 1
                if count == 1 { first() }
            }
        } catch {
            let report = await client.close()
            #expect(report.received?.code == .serviceRestart && report.received?.reason == "back soon", "\(error)")
            #expect(report.isClean && report.initiator == .remote)
        }
        return count
    }
}
