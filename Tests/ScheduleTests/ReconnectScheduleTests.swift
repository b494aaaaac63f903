// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Logging
import Synchronization
import Testing

/// A client that reconnects sends its messages in order, none of them twice, whatever becomes of its connections; what it hasn't
/// written it still has at the end.
///
/// `DUPLEX_SCHEDULES` says how many are performed, from `DUPLEX_SEED` on; scripts/more/heavy performs a million.
@Suite struct ReconnectScheduleTests {
    /// What happens next.
    private enum Step: String, CaseIterable {
        case send, turn, wait, pause, resume, networkChanges
        /// The network loses the connection.
        case reset
        /// The server closes it.
        case serverCloses
    }

    /// What the server has got, over all connections, and its side of the last one.
    private final class Receiver: Sendable {
        let numbers = Mutex<[Int]>([])
        let socket = Mutex<WebSocket?>(nil)

        func take(_ socket: WebSocket) async throws {
            self.socket.withLock { $0 = socket }
            for try await case .text(let text) in socket.messages {
                numbers.withLock { $0.append(Int(text) ?? -1) }
            }
        }
    }

    @Test("In memory, in the loop's time", .timeLimit(minutes: 60))
    func memory() async throws {
        let receiver = Mutex(Receiver())
        var server = WebServer(port: 0)
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        server.webSocket("/") { socket in try await receiver.withLock(\.self).take(socket) }
        server.get("/refused") { _ in Response(.serviceUnavailable) }
        try await server.test(within: .limit(seconds: 3_600)) { client in
            var failed = 0
            for seed in ScheduleCount.seeds where failed < 5 {
                let fresh = Receiver()
                receiver.withLock { $0 = fresh }
                let faults = try await client.loop.perform(seed) { try await Self.perform(seed, client, fresh) }
                if faults.isEmpty { continue }
                failed += 1
                Issue.record("DUPLEX_SEED=\(seed): \(faults.joined(separator: "; "))")
            }
        }
    }

    private static func perform(_ seed: UInt64, _ network: TestClient, _ receiver: Receiver) async throws -> [String] {
        var random = SeededGenerator(seed: seed)
        let loop = network.loop
        let steps = (0..<Int.random(in: 2..<30, using: &random)).map { _ in Step.allCases.pick(&random) }
        let client = makeClient(network, &random)
        let states = client.stateChanges
        var sent = 0
        for step in steps {
            switch step {
            case .send:
                sent += 1
                _ = await loop.begin { [sent] in try await client.send("\(sent)") }
            case .turn: await loop.settle()
            case .wait: await loop.advance(by: .milliseconds([10, 100, 2_000].pick(&random)))
            case .pause: _ = await loop.begin { await client.pause() }
            case .resume: await client.resume()
            case .networkChanges: await client.networkChanged()
            case .reset: network.resetConnections()
            case .serverCloses:
                guard let socket = receiver.socket.withLock(\.self) else { break }
                _ = await loop.begin { await socket.close(code: .serviceRestart) }
            }
        }
        await client.resume()
        for _ in 0..<200 {
            if await client.undelivered.isEmpty { break }
            await loop.advance(by: .milliseconds(500))
        }
        await loop.settle()
        let isEmpty = await client.undelivered.isEmpty
        let closing = await loop.begin { await client.close() }
        // The closing handshake has a deadline.
        for _ in 0..<2 { await loop.advance(by: .seconds(11)) }
        _ = try await closing.value
        let mayLose = steps.contains(.reset) || steps.contains(.serverCloses)
        var faults = judge(receiver.numbers.withLock(\.self), sent, mayLose: mayLose)
        if !isEmpty { faults.append("messages wait though the network is there") }
        return faults + (await judge(states))
    }

    /// A client some of whose attempts don't reach the server, or are refused by it.
    private static func makeClient(_ network: TestClient, _ random: inout SeededGenerator) -> ReconnectingWebSocket {
        var options = ReconnectOptions()
        options.webSocketOptions = network.routed(WebSocketOptions())
        options.webSocketOptions.pings = .disabled
        let outcomes = (0..<8).map { _ in Int.random(in: 0..<6, using: &random) }
        options.configure = { connection in
            // Later attempts succeed.
            guard connection.attempt.number <= outcomes.count else { return }
            switch outcomes[connection.attempt.number - 1] {
            case 0:
                connection.options.connectOptions.dial = { _, _ throws(SocketError) in
                    throw SocketError(.cannotConnect, message: "Nobody listens.")
                }
            case 1: connection.url = "ws://localhost/refused"
            default: break
            }
        }
        let policy = ReconnectPolicy.constant(.milliseconds(100))
        return ReconnectingWebSocket(
            "ws://localhost/",
            policy: policy,
            options: options,
            on: network.loop.group
        )
    }

    /// What is wrong with the messages that the server has got of those from 1 on.
    private static func judge(_ received: [Int], _ sent: Int, mayLose: Bool) -> [String] {
        var faults: [String] = []
        if zip(received, received.dropFirst()).contains(where: { $0 >= $1 }) {
            faults.append("not in order: \(received)")
        }
        if received.contains(where: { $0 < 1 || $0 > sent }) { faults.append("never sent: \(received)") }
        if !mayLose && received.count != sent { faults.append("\(sent) were sent, and came: \(received)") }
        return faults
    }

    /// What is wrong with the states that an observer has seen.
    private static func judge(_ states: AsyncStream<ReconnectChange>) async -> [String] {
        var faults: [String] = []
        var last = ReconnectState.idle
        for await change in states {
            let isRight =
                switch (last, change.state) {
                case (.ended, _), (_, .idle): false
                case (.connecting, .open), (_, .connecting), (_, .paused), (_, .ended): true
                case (.connecting, .waiting), (.open, .waiting): true
                default: false
                }
            if !isRight { faults.append("\(change.state) follows \(last)") }
            last = change.state
        }
        if case .ended = last { return faults }
        return faults + ["the last state is \(last)"]
    }
}
