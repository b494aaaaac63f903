// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexCommand

@Suite("The broadcast of duplex serve", .timeLimit(minutes: 1))
struct BroadcastHandlerTests {
    @Test("Every message goes to all connections, on every loop, and to none that has left")
    func everybody() async throws {
        var server = WebServer(port: 0)
        server.group = try EventLoopGroup(loops: 2)
        server.webSocket("/", handler: BroadcastHandler())
        try await server.withRunning { address in
            var sockets: [WebSocket] = []
            for _ in 0..<12 { sockets.append(try await WebSocket.connect(to: "ws://localhost:\(address.port)/")) }
            for (number, sender) in sockets.enumerated() {
                let text = "from \(number)"
                try await sender.send(text)
                for socket in sockets { #expect(try await socket.receive() == .text(text)) }
            }
            for _ in 0..<6 { await sockets.remove(at: sockets.count / 2).close() }
            try await sockets[0].send([1, 2, 3])
            for socket in sockets {
                #expect(try await socket.receive() == .binary([1, 2, 3]))
                await socket.close()
            }
        }
        await server.group?.stop()
    }
}
