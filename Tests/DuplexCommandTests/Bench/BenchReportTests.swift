// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import Foundation
import Histogram
import Testing

@testable import DuplexCommand

@Suite("The report of a load")
struct BenchReportTests {
    private static func report(failures: [String] = []) -> BenchReport {
        var latencies = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
        for microseconds in 1...1_000 as ClosedRange<UInt64> { latencies.record(microseconds * 1_000) }
        let plan = BenchRun.Plan(
            url: "ws://localhost/",
            connections: 50,
            size: 32,
            depth: 16,
            kind: .binary,
            duration: .seconds(2),
            warmup: .zero,
            options: WebSocketOptions(),
            echoTimeout: .zero
        )
        return BenchReport(plan: plan, loops: 2, elapsed: .seconds(2), latencies: latencies, failures: failures)
    }

    @Test("Rates are of what was measured")
    func rates() {
        #expect(Self.report().messages == 1_000)
        #expect(Self.report().messagesPerSecond == 500)
        #expect(Self.report().megabytesPerSecond == 0.016)
    }

    @Test("The text has the load, the rate, the percentiles and the verdict")
    func text() {
        let lines = Self.report().text.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines[0] == "50 connections to ws://localhost/, 32 B binary, depth 16, 2.0 s")
        #expect(lines[1] == "  500 messages/s · 0.02 MB/s each way")
        #expect(lines[2].hasPrefix("  latency in µs: p50 500."))
        #expect(lines[2].contains(" · p99.9 999.") && lines[2].contains(" · max 1,000."))
        #expect(lines[3] == "  1,000 echoes checked, no error")
        #expect(Self.report(failures: ["a", "b"]).text.hasSuffix("1,000 echoes checked, 2 connections failed"))
    }

    @Test("The JSON is one object on one line, and each failure is in it once")
    func json() throws {
        let json = try Self.report(failures: ["b", "a", "b"]).json
        #expect(!json.contains("\n"))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(object["messagesPerSecond"] as? Double == 500)
        #expect(object["failedConnections"] as? Int == 3)
        #expect(object["failures"] as? [String] == ["a", "b"])
        let latencies = try #require(object["latencyMicroseconds"] as? [String: Double])
        #expect(Set(latencies.keys) == ["p50", "p90", "p99", "p99.9", "max"])
        #expect(abs(try #require(latencies["p90"]) - 900) < 1)
    }
}
