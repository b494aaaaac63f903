// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Synchronization
import Testing

extension PeerTests {
    /// A server in a process of its own, and those who mean it no good.
    @Suite(.serialized)
    struct RobustnessTests {
        private static let threads = 24

        @Test("50,000 hostile streams disturb nobody and leave nothing behind", .timeLimit(minutes: 8))
        func hostileStreams() async throws {
            try await DuplexServe.withRunning(["--quiet"]) { server in
                let sockets = try server.sockets()
                try await Self.withGoodClients(of: server) {
                    try await Self.attack(server, seeds: 0..<5_000)
                    // A leak grows each time. What the allocator keeps grows when more come at the same moment than before.
                    var growths: [Int] = []
                    repeat {
                        let memory = try server.residentMemory()
                        try await Self.attack(server, seeds: 5_000..<50_000)
                        growths.append(try server.residentMemory() - memory)
                    } while growths.count < 3 && growths[growths.count - 1] >= DuplexServe.memoryTolerance
                    let least = growths.min() ?? 0
                    #expect(least < DuplexServe.memoryTolerance, "resident memory grew each time, in bytes: \(growths)")
                }
                try await Self.expectSockets(of: server, atMost: sockets + 1)
            }
        }

        @Test("1,000 connections opened and closed 40 times leave nothing behind", .timeLimit(minutes: 4))
        func openingAndClosing() async throws {
            try await DuplexServe.withRunning(["--quiet"]) { server in
                let sockets = try server.sockets()
                try await Self.openAndClose(server, rounds: 10)
                let memory = try server.residentMemory()
                try await Self.openAndClose(server, rounds: 30)
                let growth = try server.residentMemory() - memory
                #expect(growth < DuplexServe.memoryTolerance, "resident memory grew by \(growth / 1_024) KiB")
                try await Self.expectSockets(of: server, atMost: sockets + 1)
            }
        }

        // MARK: Attacking

        private static func attack(_ server: DuplexServe, seeds: Range<Int>) async throws {
            try await onThreads(threads) { thread in
                for seed in stride(from: seeds.lowerBound + thread, to: seeds.upperBound, by: threads) {
                    try attack(server, HostileStream(seed: UInt64(seed)), source: UInt8(1 + seed % 250), seed)
                }
            }
        }

        private static func attack(_ server: DuplexServe, _ stream: HostileStream, source: UInt8, _ seed: Int) throws {
            let connection = try RawConnection(port: server.port, source: source)
            connection.send(stream.bytes)
            switch stream.leave {
            case .finish: #expect(connection.finish() == .closed, "stream \(seed) was left open by the server")
            case .reset: connection.resetOnClose()
            case .close: break
            }
        }

        // MARK: Opening and closing

        private static func openAndClose(_ server: DuplexServe, rounds: Int) async throws {
            try await onThreads(8) { thread in
                var generator = SeededGenerator(seed: UInt64(thread))
                for round in 0..<rounds { try openAndClose(server, round, &generator) }
            }
        }

        /// Opens 125 WebSockets, and then closes all of them, each in one of three ways.
        private static func openAndClose(
            _ server: DuplexServe,
            _ round: Int,
            _ generator: inout SeededGenerator
        ) throws {
            let connections = try (0..<125).map { number in
                let connection = SharedConnection(try RawConnection(port: server.port, source: UInt8(1 + number)))
                connection.value.send(HostileStream.handshake(&generator))
                return connection
            }
            for (number, connection) in connections.enumerated() {
                let answer = connection.value.receive() ?? []
                #expect(answer.starts(with: "HTTP/1.1 101".utf8), "connection \(number) of round \(round)")
                switch number % 3 {
                // A masked close frame with the code 1000 (RFC 6455 section 5.5.1).
                case 0: connection.value.send([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE8])
                case 1: connection.value.resetOnClose()
                default: break
                }
                if number % 3 == 0 { #expect(connection.value.finish() == .closed) }
            }
        }

        // MARK: The others

        /// Five connections that echo for as long as the closure runs, and must never notice anything.
        private static func withGoodClients(
            of server: DuplexServe,
            _ body: @Sendable @escaping () async throws -> Void
        ) async throws {
            let isOver = IsOver()
            try await withThrowingTaskGroup { tasks in
                for client in 0..<5 {
                    tasks.addTask { try await echo(with: server, seed: UInt64(client), until: isOver) }
                }
                tasks.addTask {
                    defer { isOver.value.store(true, ordering: .relaxed) }
                    try await body()
                }
                try await tasks.waitForAll()
            }
        }

        private static func echo(with server: DuplexServe, seed: UInt64, until isOver: IsOver) async throws {
            var generator = SeededGenerator(seed: seed)
            var count = 0
            let socket = try await WebSocket.connect(to: "ws://127.0.0.1:\(server.port)/echo")
            // A thousand get through, however few of them beside the others: whoever is kept from it has a time limit.
            while !isOver.value.load(ordering: .relaxed) || count < 1_000 {
                let text = String(repeating: "\(count) ", count: Int.random(in: 1...300, using: &generator))
                try await socket.send(text)
                #expect(try await socket.receive() == .text(text))
                count += 1
            }
            #expect(await socket.close().isClean)
        }

        private final class IsOver: Sendable {
            let value = Atomic(false)
        }

        /// Waits, one round trip after the other, until the server has closed what it no longer needs.
        ///
        /// - Parameters:
        ///   - server: the server.
        ///   - limit: how many sockets it may keep, that of the connection for the round trips included.
        /// - Throws: what went wrong in a round trip.
        private static func expectSockets(of server: DuplexServe, atMost limit: Int) async throws {
            let start = ContinuousClock.now
            let socket = try await WebSocket.connect(to: "ws://127.0.0.1:\(server.port)/echo")
            while try server.sockets() > limit, start.duration(to: .now) < .seconds(30) {
                try await socket.send("still there?")
                _ = try await socket.receive()
            }
            #expect(try server.sockets() <= limit)
            #expect(await socket.close().isClean)
        }
    }
}
#endif
