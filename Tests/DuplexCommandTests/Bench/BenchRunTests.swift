// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Histogram
import Synchronization
import Testing

@testable import DuplexCommand

@Suite("A load", .timeLimit(minutes: 1))
struct BenchRunTests {
    private static func plan(
        _ url: String,
        connections: Int = 5,
        for duration: Duration = .milliseconds(500),
        echoTimeout: Duration = .seconds(20)
    ) -> BenchRun.Plan {
        BenchRun.Plan(
            url: url,
            connections: connections,
            size: 32,
            depth: 2,
            kind: .text,
            duration: duration,
            warmup: .zero,
            options: WebSocketOptions(),
            echoTimeout: echoTimeout
        )
    }

    /// Takes what comes and answers nothing.
    private static let listenOnly: @Sendable (isolated WebSocket) async throws -> Void = { try await listen($0) }

    @Test("Against an echo it reports messages, latencies and no failure")
    func echoes() async throws {
        var server = WebServer(port: 0)
        server.webSocket("/", handler: EchoHandler())
        let progress = Mutex(0)
        let report = try await withServer(server) { url in
            // A machine that is busy may stand still for a while.
            try await BenchRun(plan: Self.plan(url, for: .seconds(2)), group: .shared) { messages, _ in
                progress.withLock { $0 = messages }
            }.run()
        }
        #expect(report.failures.isEmpty)
        #expect(report.messages > 0)
        #expect(report.elapsed >= .seconds(2))
        #expect(progress.withLock(\.self) > 0)
    }

    @Test("Against a server that answers nothing it reports each connection that waits in vain")
    func silence() async throws {
        let report = try await withWebSocketServer(Self.listenOnly) { url in
            let plan = Self.plan(url, echoTimeout: .milliseconds(1))
            return try await BenchRun(plan: plan, group: .shared) { _, _ in }.run()
        }
        #expect(report.failures.count == 5)
        #expect(report.distinctFailures == ["Echoes that did not come within 0.001 seconds: 10."])
        #expect(report.messages == 0)
    }

    @Test("A server that isn't there is an error")
    func unreachable() async throws {
        let failure = await #expect(throws: Failure.self) {
            try await BenchRun(plan: Self.plan("ws://127.0.0.1:1/"), group: .shared) { _, _ in }.run()
        }
        #expect(failure?.status == .cannotConnect)
    }
}

@Suite("Recording latencies")
struct BenchRecorderTests {
    @Test("What several recorders have is put together")
    func merged() {
        let recorders = [BenchRecorder(), BenchRecorder(), BenchRecorder()]
        for value in 1...100 as ClosedRange<UInt64> { recorders[0].record(value) }
        recorders[1].record(5_000_000_000)
        #expect(recorders.map(\.count) == [100, 1, 0])
        let sum = BenchRecorder.merged(recorders)
        #expect(sum.totalCount == 101)
        #expect(sum.min == 1)
        #expect(sum.valueAtPercentile(50) == 51)
        #expect(sum.maxRecorded >= 5_000_000_000)
    }

    @Test("A run goes through its stages")
    func stages() {
        let stage = BenchStage()
        #expect(stage.name == .warmingUp)
        for name in [BenchStage.Name.measuring, .draining] {
            stage.name = name
            #expect(stage.name == name)
        }
    }
}
