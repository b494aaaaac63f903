// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Logging
import Synchronization
import Testing

@Suite("Sums of ends")
struct EndSummaryTests {
    /// Keeps what is logged.
    private final class Log: Sendable {
        private let stored = Mutex<[String]>([])

        var lines: [String] { stored.withLock { $0 } }

        var logger: Logger { Logger(label: "tests") { _ in Handler(log: self) } }

        struct Handler: LogHandler {
            let log: Log
            var metadata: Logger.Metadata = [:]
            var logLevel = Logger.Level.trace

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                let pairs = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                log.stored.withLock { $0.append("\(event.level): \(event.message) \(pairs.joined(separator: " "))") }
            }
        }
    }

    private func onLoop(_ body: @escaping @Sendable (LoopCore) -> Void) async throws {
        let loop = try EventLoop()
        await withCheckedContinuation { continuation in
            loop.execute { core in
                body(core)
                continuation.resume()
            }
        }
        await loop.stop()
    }

    @Test("However many ends there are in an interval, one line at info has the sums by reason")
    func sums() async throws {
        let log = Log()
        try await onLoop { core in
            let summary = EndSummary(logger: log.logger, interval: .seconds(3_600))
            for _ in 0..<1_000 { summary.count(.violation, on: core) }
            summary.count(.lost, on: core)
            #expect(core.timerCount == 1)
            #expect(log.lines.isEmpty)
            // As the loop does once the interval has passed.
            summary.timerFired(core.schedule(summary, at: core.now), now: core.now)
        }
        #expect(log.lines == ["info: connections were ended by their peers lost=1 total=1001 violation=1000"])
    }

    @Test("An interval without an end has no line and no timer, and the next end begins another")
    func nextInterval() async throws {
        let log = Log()
        try await onLoop { core in
            let summary = EndSummary(logger: log.logger, interval: .seconds(3_600))
            let timer = core.schedule(summary, at: core.now)
            summary.timerFired(timer, now: core.now)
            #expect(log.lines.isEmpty)
            let before = core.timerCount
            summary.count(.silent, on: core)
            #expect(core.timerCount == before + 1)
            summary.timerFired(timer, now: core.now)
            summary.count(.silent, on: core)
            #expect(core.timerCount == before + 2)
        }
        #expect(log.lines.count == 1)
    }

    @Test("What was counted last is told when the server ends, once")
    func flushing() async throws {
        let log = Log()
        try await onLoop { core in
            let summary = EndSummary(logger: log.logger)
            for reason in EndSummary.Reason.allCases { summary.count(reason, on: core) }
            summary.flush()
            summary.flush()
        }
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.contains("refused=1 silent=1 total=6 unclosed=1 unsecured=1") == true)
    }
}
