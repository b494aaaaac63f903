// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexCommand

@Suite("What a load is made with", .timeLimit(minutes: 1))
struct BenchClientTests {
    private static func plan(
        _ url: String,
        _ client: BenchClient,
        echoTimeout: Duration = .seconds(20)
    ) -> BenchRun.Plan {
        BenchRun.Plan(
            url: url,
            connections: 3,
            size: 16,
            depth: 2,
            kind: .binary,
            duration: .milliseconds(100),
            warmup: .zero,
            options: WebSocketOptions(),
            echoTimeout: echoTimeout,
            client: client
        )
    }

    private static func run(
        _ client: BenchClient,
        echoTimeout: Duration = .seconds(20),
        _ handler: @escaping @Sendable (isolated WebSocket) async throws -> Void
    ) async throws -> BenchReport {
        try await withWebSocketServer(handler) { url in
            try await BenchRun(plan: plan(url, client, echoTimeout: echoTimeout), group: .shared) { _, _ in }.run()
        }
    }

    @Test("Each tells of an echo with another byte", arguments: BenchClient.allCases)
    func changed(client: BenchClient) async throws {
        let report = try await Self.run(client) { socket in
            for try await message in socket.messages {
                guard case .binary(var bytes) = message else { return }
                bytes[15] ^= 1
                try await socket.send(bytes)
            }
        }
        #expect(report.failures.count == 3)
        #expect(report.distinctFailures == [BenchPayload.Mismatch.content.description])
    }

    @Test("Each tells of a connection that the server closes, and makes no other", arguments: BenchClient.allCases)
    func closed(client: BenchClient) async throws {
        let report = try await Self.run(client) { _ = try await $0.receive() }
        #expect(report.failures.count == 3)
        #expect(report.distinctFailures.allSatisfy { $0.hasPrefix("A connection ended: ") }, "\(report.failures)")
    }

    @Test("Each tells of echoes that don't come, and ends", arguments: BenchClient.allCases)
    func silence(client: BenchClient) async throws {
        let report = try await Self.run(client, echoTimeout: .milliseconds(1)) { try await listen($0) }
        #expect(report.distinctFailures == ["Echoes that did not come within 0.001 seconds: 6."])
    }

    @Test("A server that isn't there is an error of the connection", arguments: BenchClient.allCases)
    func unreachable(client: BenchClient) async throws {
        let port = try ReservedPort()
        let plan = Self.plan("ws://\(port.address)/", client)
        let failure = await #expect(throws: Failure.self) {
            try await BenchRun(plan: plan, group: .shared) { _, _ in }.run()
        }
        #expect(failure?.status == .cannotConnect)
    }
}
