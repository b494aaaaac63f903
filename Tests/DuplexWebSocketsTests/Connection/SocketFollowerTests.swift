// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Synchronization
import Testing

@Suite("Who sends on a connection besides its handler", .timeLimit(minutes: 1))
struct SocketFollowerTests {
    private final class Follower: SocketFollower {
        let log: Bulletin<[String]>
        init(_ log: Bulletin<[String]>) { self.log = log }
        func drained(_ socket: isolated WebSocket) { log.change { $0.append("drained") } }
        func ended() { log.change { $0.append("ended") } }
        var droppedMessages: Int { 7 }
    }

    @Test("It is told of room behind a time without, and of the end")
    func told() async throws {
        try await TestLoop.run { test in
            let log = Bulletin<[String]>([])
            let pair = await WebSocketPair(on: test.group, capacity: .kibibytes(4))
            let frame = PreparedMessage(.binary([UInt8](repeating: 7, count: 40_000)))
            let taken = await Self.fill(pair.server, frame, log)
            #expect(taken == [true, false])
            for _ in 0..<3 { _ = try await pair.client.receive() }
            await test.settle()
            #expect(log.value == ["drained"])
            await pair.client.reset()
            await test.settle()
            #expect(log.value == ["drained", "ended"])
        }
    }

    private static func fill(
        _ socket: isolated WebSocket,
        _ frame: PreparedMessage,
        _ log: Bulletin<[String]>
    ) -> [Bool] {
        socket.follower = Follower(log)
        var taken: [Bool] = []
        socket.gather(frame)
        taken.append(socket.takesMore)
        socket.enqueue(frame)
        socket.gather(frame)
        taken.append(socket.takesMore)
        return taken
    }
}
