// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

extension PeerTests {
    /// Tasks that don't run on the loop of the socket that they wait for, many at once.
    ///
    /// Such a task is put off to a later round of the loop at each step into its wait. What it waits for may happen between
    /// two steps, and must not be missed.
    struct WaitingTests {
        @Test("Tasks elsewhere miss nothing that they wait for", .timeLimit(minutes: 5))
        func tasksElsewhere() async throws {
            let options = Corpus.options
            try await EchoServer().server.withRunning { address in
                try await withThrowingTaskGroup { tasks in
                    for _ in 0..<16 {
                        tasks.addTask {
                            let url = "ws://\(address)\(EchoServer.Path.task.rawValue)"
                            let socket = try await WebSocket.connect(to: url, options: options)
                            try await Self.exchange(socket)
                            #expect(await socket.close().isClean)
                        }
                    }
                    try await tasks.waitForAll()
                }
            }
        }

        /// Messages above the high-water mark, so that both directions have to be waited for, and pings.
        private static func exchange(_ socket: WebSocket) async throws {
            let message = Message.binary(Corpus.bytes(of: 100_000))
            for _ in 0..<200 {
                try await socket.send(message)
                #expect(try await socket.receive() == message)
                _ = try await socket.ping(timeout: .limit(seconds: 10))
            }
        }
    }
}
