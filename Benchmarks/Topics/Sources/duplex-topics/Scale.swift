// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Foundation

/// The server with very many connections of scripts/bench, on one event loop: prints its port, and serves until SIGTERM, which has it
/// close them in batches over two seconds.
///
///     /crowd   a connection that is subscribed to one topic
///     /ping    pings all of them, and says how long it took until the last has answered
///     /say     publishes a message to the topic
enum Scale {
    /// A connection of the crowd.
    private struct Crowd: WebSocketHandler {
        let topic: Topic
        let sockets: Sockets

        func opened(_ socket: isolated WebSocket) {
            sockets.add(socket)
            _ = try? socket.subscribe(to: topic, slow: .dropOldest(keeping: 100))
        }

        func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {}
    }

    static func run() async throws {
        let topic = Topics()["all"]
        let sockets = Sockets()
        var server = WebServer(host: .address("127.0.0.1"), port: 0)
        server.limits = .local
        // A round of pings is to be that of /ping.
        server.webSockets.pings = .disabled
        server.eventLoops = try EventLoopGroup(loops: 1)
        server.drain = Drain(over: .seconds(2))
        server.closeTimeout = .seconds(60)
        server.webSocket("/crowd", handler: Crowd(topic: topic, sockets: sockets))
        server.get("/ping") { _ in await ping(sockets.all) }
        server.get("/say") { _ in
            topic.publish(String(repeating: "x", count: 64))
            return "said\n"
        }
        try await server.run(until: .terminate) { address in
            print(address.port)
            fflush(nil)
        }
    }

    private static func ping(_ sockets: [WebSocket]) async -> String {
        let clock = ContinuousClock()
        let begin = clock.now
        let answered = await withTaskGroup(of: Bool.self) { group in
            for (index, socket) in sockets.enumerated() {
                // Others have their turn meanwhile.
                if index.isMultiple(of: 500) { await Task.yield() }
                group.addTask { (try? await socket.ping(timeout: .seconds(60))) != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        return "pinged=\(answered) secs=\(begin.duration(to: clock.now) / .seconds(1))\n"
    }
}
