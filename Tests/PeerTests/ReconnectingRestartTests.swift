// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexSockets
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

extension PeerTests {
    /// A server that dies under its clients and is started again.
    @Suite(.serialized)
    struct ReconnectingRestartTests {
        private static let count = 1_000
        /// The first wait of each client is anything between nothing and this.
        private static let wait = Duration.seconds(8)
        private static let isAllowed = DescriptorLimit.hard >= 3 * count

        @Test(
            "A thousand clients of a server that is killed come back spread over the whole of the wait, and none twice",
            .timeLimit(minutes: 3),
            .enabled(if: isAllowed, "A THOUSAND CLIENTS ARE NOT TESTED: raise the hard limit of ulimit -n to 3,000")
        )
        func restart() async throws {
            try await DescriptorLimit.withRaised {
                // Held, so that nobody else gets the port while nobody listens there.
                let reserved = try ReservedPort()
                let port = UInt16(reserved.address.port)
                let crowd = Crowd(Self.count, port: port, wait: Self.wait)
                let idle = try await Self.serve(port) { server in
                    let idle = try server.sockets()
                    await crowd.start()
                    await crowd.waitUntilOpen(times: 1)
                    #expect(try server.sockets() == idle + Self.count)
                    server.kill()
                    return idle
                }
                try await Self.serve(port) { server in
                    await crowd.waitUntilOpen(times: 2)
                    try await crowd.expectEchoes()
                    #expect(try server.sockets() == idle + Self.count)
                    await crowd.close()
                }
                Self.expectSpread(crowd.histories)
            }
        }

        private static func serve<Result>(
            _ port: UInt16,
            _ body: (DuplexServe) async throws -> Result
        ) async throws -> Result {
            try await DuplexServe.withRunning(["--limits", "local"], port: port, body)
        }

        /// Expects of each that it lost one connection and got one other, and of all that they didn't come together.
        private static func expectSpread(_ histories: [[ReconnectChange]]) {
            var (chosen, actual): ([Duration], [Duration]) = ([], [])
            for (client, history) in histories.enumerated() {
                let opened = history.count { if case .open = $0.state { true } else { false } }
                #expect(opened == 2, "client \(client): \(history)")
                guard history.last?.state == .ended(.closed),
                    let index = history.firstIndex(where: { if case .waiting = $0.state { true } else { false } }),
                    case .waiting(let delay) = history[index].state,
                    case .open(let attempt, after: _) = history[index - 1].state,
                    case .connecting = history[index + 1].state
                else {
                    Issue.record("client \(client): \(history)")
                    continue
                }
                #expect(attempt.number == 1)
                chosen.append(delay)
                actual.append(history[index].instant.duration(to: history[index + 1].instant))
                #expect(actual.last.map { $0 >= delay } == true, "client \(client) came too early: \(history)")
            }
            #expect(chosen.count == count)
            // Below 36.2 in 99 of 100 cases. What was chosen is always the same, of the seeds of the clients; a machine that
            // holds them up for a second puts those of that second together, which makes some 400. All together would be
            // 19,000, and those of three seconds 4,000.
            let (planned, measured) = (squared(chosen), squared(actual))
            #expect(planned < 36.2 && measured < 4_000, "chi-squared: \(planned) planned, \(measured) measured")
        }

        /// Chi-squared over 20 classes of the same length.
        private static func squared(_ delays: [Duration]) -> Double {
            var counts = [Int](repeating: 0, count: 20)
            for delay in delays { counts[min(19, Int(delay / wait * 20))] += 1 }
            let expected = Double(delays.count) / 20
            return counts.map { (Double($0) - expected) * (Double($0) - expected) / expected }.reduce(0, +)
        }
    }

    /// Clients that connect again by themselves, and all that has happened to them.
    private final class Crowd {
        private let clients: [ReconnectingWebSocket]
        private let changes: AsyncStream<(client: Int, change: ReconnectChange?)>
        private let input: AsyncStream<(client: Int, change: ReconnectChange?)>.Continuation
        private(set) var histories: [[ReconnectChange]]
        private var opened: [Int]

        /// Makes so many clients, each with the waits of its own seed.
        init(_ count: Int, port: UInt16, wait: Duration) {
            clients = (0..<count).map { number in
                var options = ReconnectOptions()
                options.random = SeededGenerator(seed: UInt64(number))
                let policy = ReconnectPolicy.exponential(from: wait, to: wait)
                return ReconnectingWebSocket("ws://127.0.0.1:\(port)/echo", policy: policy, options: options)
            }
            histories = Array(repeating: [], count: count)
            opened = Array(repeating: 0, count: count)
            (changes, input) = AsyncStream.makeStream()
        }

        func start() async {
            for (number, client) in clients.enumerated() {
                let states = client.stateChanges
                Task { [input] in
                    for await change in states { input.yield((number, change)) }
                    input.yield((number, nil))
                }
                await client.start()
            }
        }

        /// Waits until each has been open so many times.
        func waitUntilOpen(times: Int) async {
            var missing = opened.count { $0 < times }
            guard missing > 0 else { return }
            for await (client, change) in changes {
                guard let change else { continue }
                histories[client].append(change)
                guard case .open = change.state else { continue }
                opened[client] += 1
                if opened[client] == times { missing -= 1 }
                if missing == 0 { return }
            }
        }

        /// Has each client send what no other does over the connection that it has now, and expects that back.
        func expectEchoes() async throws {
            try await withThrowingTaskGroup { tasks in
                for (number, client) in clients.enumerated() {
                    tasks.addTask {
                        var sessions = client.sessions.makeAsyncIterator()
                        let socket = try #require(try await sessions.next())
                        try await socket.send("client \(number)")
                        #expect(try await socket.receive() == .text("client \(number)"))
                    }
                }
                try await tasks.waitForAll()
            }
        }

        /// Closes all, and takes what happens to them until then.
        func close() async {
            await withDiscardingTaskGroup { tasks in
                for client in clients { tasks.addTask { await client.close() } }
            }
            var missing = clients.count
            for await (client, change) in changes {
                if let change { histories[client].append(change) } else { missing -= 1 }
                if missing == 0 { return }
            }
        }
    }
}
#endif
