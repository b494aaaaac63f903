// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Histogram

/// What a run has shown.
struct BenchReport: Sendable {
    let plan: BenchRun.Plan
    let loops: Int
    /// How long was measured.
    let elapsed: Duration
    /// From sending to having the whole echo, in nanoseconds.
    let latencies: Histogram<UInt64>
    /// What went wrong, one entry for each connection where something did.
    let failures: [String]

    private static let percentiles = [("p50", 50.0), ("p90", 90), ("p99", 99), ("p99.9", 99.9)]

    var messages: Int { Int(clamping: latencies.totalCount) }

    var messagesPerSecond: Double {
        elapsed > .zero ? Double(messages) / (Double(elapsed.wholeNanoseconds) / 1e9) : 0
    }

    /// Payload in one direction, in millions of bytes; as much goes the other way.
    var megabytesPerSecond: Double {
        messagesPerSecond * Double(plan.size) / 1e6
    }

    /// Latencies in microseconds, by name.
    private var figures: [(name: String, microseconds: Double)] {
        Self.percentiles.map { name, percent in
            // The histogram answers with the upper end of a bucket, which the longest may not reach.
            (name, Double(min(latencies.valueAtPercentile(percent), latencies.maxRecorded)) / 1e3)
        } + [("max", Double(latencies.maxRecorded) / 1e3)]
    }

    /// The report for people, in lines.
    var text: String {
        let seconds = (Double(elapsed.wholeNanoseconds) / 1e9).fixed(1)
        let kind = plan.kind == .text ? "text" : "binary"
        return """
            \(plan.connections.grouped) connections to \(plan.url.visible), \(ByteCount(plan.size)) \(kind), \
            depth \(plan.depth), \(seconds) s
              \(messagesPerSecond.fixed(0)) messages/s · \(megabytesPerSecond.fixed(2)) MB/s each way
              latency in µs: \(figures.map { "\($0.name) \($0.microseconds.fixed(1))" }.joined(separator: " · "))
              \(messages.grouped) echoes checked, \(failures.isEmpty ? "no error" : "\(failures.count) connections failed")
            """
    }

    /// The report for programs: one JSON object on one line.
    var json: String {
        get throws {
            try JSONLine.text(of: Form(self))
        }
    }

    private struct Form: Encodable {
        let url: String
        let connections: Int
        let size: Int
        let depth: Int
        let kind: String
        let loops: Int
        let seconds: Double
        let messages: Int
        let messagesPerSecond: Double
        let megabytesPerSecond: Double
        let latencyMicroseconds: [String: Double]
        let failedConnections: Int
        let failures: [String]

        init(_ report: BenchReport) {
            url = report.plan.url
            connections = report.plan.connections
            size = report.plan.size
            depth = report.plan.depth
            kind = report.plan.kind == .text ? "text" : "binary"
            loops = report.loops
            seconds = Double(report.elapsed.wholeNanoseconds) / 1e9
            messages = report.messages
            messagesPerSecond = report.messagesPerSecond
            megabytesPerSecond = report.megabytesPerSecond
            latencyMicroseconds = Dictionary(uniqueKeysWithValues: report.figures.map { ($0.name, $0.microseconds) })
            failedConnections = report.failures.count
            failures = report.distinctFailures
        }
    }

    /// What went wrong, each once, in the order of the text.
    var distinctFailures: [String] {
        Set(failures).sorted()
    }
}
