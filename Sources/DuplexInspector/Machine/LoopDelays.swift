// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Histogram
import Synchronization

/// How long event loops take to come to what is new for them, for as long as somebody looks.
///
/// Each loop is handed something fifty times in a second, and it is measured until the loop runs it: that is what is left of
/// the turn that it is in. When this is released, nothing is left on the loops.
final class LoopDelays: Sendable {
    /// How often a loop is asked.
    static let interval = Duration.milliseconds(20)

    let probes: [LoopProbe]
    private let task: Task<Void, Never>

    init(_ loops: [EventLoop]) {
        let probes = loops.map { LoopProbe($0) }
        self.probes = probes
        task = Task.detached {
            while !Task.isCancelled {
                for probe in probes { probe.send() }
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    deinit {
        task.cancel()
    }
}

/// Measures one loop.
final class LoopProbe: Sendable {
    /// Where the columns of the page end, in microseconds; the last one has no end.
    static let bounds: [UInt64] = [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000]

    private struct State {
        /// In microseconds, to two digits.
        var delays = Histogram<UInt32>(numberOfSignificantValueDigits: .two)
        /// When the loop was asked what it hasn't come to yet.
        var asked: Instant?
        /// The longest delay since the last look.
        var worst: UInt64 = 0
    }

    private let loop: EventLoop
    private let state = Mutex(State())

    init(_ loop: EventLoop) {
        self.loop = loop
    }

    /// Asks the loop, unless it still has a question, or has been stopped: that would start a thread to answer it.
    func send() {
        if loop.isStopped { return }
        let mayAsk = state.withLock { state in
            if state.asked != nil { return false }
            state.asked = Instant.now()
            return true
        }
        if mayAsk { loop.execute { [weak self] _ in self?.arrived() } }
    }

    private func arrived() {
        state.withLock { state in
            guard let asked = state.asked.take() else { return }
            let delay = Self.microseconds(since: asked)
            // A loop that was held up wasn't asked meanwhile: what would have been measured then counts, too.
            state.delays.recordCorrectedValue(delay, expectedInterval: 20_000)
            state.worst = max(state.worst, delay)
        }
    }

    private static func microseconds(since instant: Instant) -> UInt64 {
        UInt64(max(0, (Instant.now().nanoseconds - instant.nanoseconds) / 1_000))
    }

    /// What was measured since the beginning, in seconds, and the longest delay since the last look.
    struct Report: Codable, Hashable, Sendable {
        var count: Int
        var p50: Double
        var p90: Double
        var p99: Double
        var p999: Double
        var max: Double
        var worst: Double
        /// How many delays are in each column; see ``LoopProbe/bounds``.
        var columns: [UInt64]
    }

    /// What was measured; the next report has the longest delay since this one.
    var report: Report {
        state.withLock { state in
            // What the loop is held up by at this moment counts as far as it has come.
            let waiting = state.asked.map { Self.microseconds(since: $0) } ?? 0
            let worst = max(state.worst, waiting > 20_000 ? waiting : 0)
            state.worst = 0
            let delays = state.delays
            func seconds(_ percentile: Double) -> Double { Double(delays.valueAtPercentile(percentile)) / 1e6 }
            return Report(
                count: Int(clamping: delays.totalCount),
                p50: seconds(50),
                p90: seconds(90),
                p99: seconds(99),
                p999: seconds(99.9),
                max: seconds(100),
                worst: Double(worst) / 1e6,
                columns: Self.columns(of: delays)
            )
        }
    }

    /// How many delays are in each column.
    private static func columns(of delays: Histogram<UInt32>) -> [UInt64] {
        var counts = [UInt64](repeating: 0, count: bounds.count + 1)
        for value in delays.recordedValues() {
            counts[bounds.firstIndex { value.value < $0 } ?? bounds.count] += UInt64(value.count)
        }
        return counts
    }
}
