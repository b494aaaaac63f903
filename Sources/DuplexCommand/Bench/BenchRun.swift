// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Histogram
import Synchronization

/// A load on one server, from the first connection to the last echo.
struct BenchRun: Sendable {
    /// What load to make.
    struct Plan: Sendable {
        var url: String
        var connections: Int
        var size: Int
        var depth: Int
        var kind: Message.Kind
        var duration: Duration
        var warmup: Duration
        /// How to connect.
        var options: WebSocketOptions
        /// How long the last echoes may take once nothing more is sent.
        var echoTimeout: Duration
        /// What each connection is made with.
        var client = BenchClient.handler

        /// The most bytes of messages that one connection has in flight.
        var bytesInFlight: Int {
            let (bytes, isTooMuch) = depth.multipliedReportingOverflow(by: size)
            return isTooMuch ? .max : bytes
        }
    }

    let plan: Plan
    let group: EventLoopGroup
    /// Called about once a second while measuring, with the messages so far and the time since the beginning.
    let onProgress: @Sendable (Int, Duration) -> Void

    /// How many connections are opened at the same time.
    private static let openingAtOnce = 64

    /// Connects, loads, and closes.
    ///
    /// Cancelling while measuring ends that early, with a report of what was measured until then.
    /// - Throws: ``Failure`` when a connection can't be opened, with how many could; `CancellationError` before measuring has begun.
    func run() async throws -> BenchReport {
        let recorders = Dictionary(uniqueKeysWithValues: group.loops.map { (ObjectIdentifier($0), BenchRecorder()) })
        let stage = BenchStage()
        let (ends, input) = AsyncStream<BenchConnection.End>.makeStream()
        let connections = (0..<plan.connections).map { index in
            let payload = BenchPayload(size: plan.size, kind: plan.kind, seed: UInt64(index))
            return BenchConnection(payload: payload, depth: plan.depth, stage: stage, recorders: recorders) { end in
                input.yield(end)
            }
        }
        let sockets = try await open(connections)
        try await Task.sleep(for: plan.warmup)
        let elapsed = await measure(stage, Array(recorders.values))
        let failures = await drain(ends, connections)
        await close(sockets)
        return BenchReport(
            plan: plan,
            loops: group.loops.count,
            elapsed: elapsed,
            latencies: BenchRecorder.merged(Array(recorders.values)),
            failures: failures
        )
    }

    // MARK: Connections

    private var options: WebSocketOptions {
        var options = plan.options
        // What is sent must be let in again.
        let size = max(options.limits.messageSize, .mebibytes(64), ByteCount(plan.size))
        options.limits = options.limits.with(messageSize: size)
        options.pings = .disabled
        // A task that waits to send doesn't receive: what is in flight finds room, or both sides would wait for the other.
        options.limits.inboxMessages = max(options.limits.inboxMessages, plan.depth)
        options.limits.inboxBytes = max(options.limits.inboxBytes, ByteCount(plan.bytesInFlight))
        return options
    }

    private func open(_ connections: [BenchConnection]) async throws -> [OpenBenchClient] {
        let options = options
        let results = await withTaskGroup(of: Result<OpenBenchClient, any Error>.self) { tasks in
            var results: [Result<OpenBenchClient, any Error>] = []
            for (index, connection) in connections.enumerated() {
                if index >= Self.openingAtOnce, let result = await tasks.next() { results.append(result) }
                // One that can't be opened is enough.
                if results.last?.failure != nil { break }
                tasks.addTask {
                    do {
                        return .success(try await plan.client.open(plan, options, on: group, connection))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            for await result in tasks { results.append(result) }
            return results
        }
        let sockets = results.compactMap { try? $0.get() }
        if let failure = results.lazy.compactMap(\.failure).first { throw refusal(failure, opened: sockets.count) }
        return sockets
    }

    /// Says how many connections there were when one couldn't be opened.
    private func refusal(_ error: any Error, opened: Int) -> any Error {
        if error.isCancellation { return error }
        let failure = Failure(error)
        let count = opened == 0 ? "No connection" : "Only \(opened.grouped) of \(plan.connections.grouped) connections"
        let cause = failure.message.replacing("\n", with: "\n  ")
        return Failure(failure.status, "\(count) could be opened.\n  \(cause)")
    }

    private func close(_ sockets: [OpenBenchClient]) async {
        await withDiscardingTaskGroup { tasks in
            for socket in sockets { tasks.addTask { await socket.close() } }
        }
    }

    // MARK: Stages

    /// Lets the connections record for the length of the run.
    ///
    /// - Returns: how long that was.
    private func measure(_ stage: BenchStage, _ recorders: [BenchRecorder]) async -> Duration {
        let clock = ContinuousClock()
        let start = clock.now
        let end = start.advanced(by: plan.duration)
        stage.name = .measuring
        var next = start
        while clock.now < end && !Task.isCancelled {
            next = min(end, next.advanced(by: .seconds(1)))
            try? await clock.sleep(until: next)
            onProgress(recorders.reduce(0) { $0 + $1.count }, start.duration(to: clock.now))
        }
        stage.name = .draining
        return start.duration(to: clock.now)
    }

    /// Waits until every connection has all its echoes, or the time is up.
    ///
    /// - Returns: what went wrong, one entry for each connection where something did.
    private func drain(_ ends: AsyncStream<BenchConnection.End>, _ connections: [BenchConnection]) async -> [String] {
        // Not of this task: cancelling ends the measuring, and the rest is to be checked all the same.
        let collecting = Task {
            var failures: [String] = []
            var count = 0
            for await end in ends.prefix(connections.count) {
                count += 1
                if case .failed(let reason) = end { failures.append(reason) }
            }
            return (failures, connections.count - count)
        }
        let alarm = Task {
            try await Task.sleep(for: plan.echoTimeout)
            collecting.cancel()
        }
        var (failures, silent) = await collecting.value
        alarm.cancel()
        if silent > 0 {
            let missing = connections.reduce(0) { $0 + $1.inFlight }
            failures += Array(
                repeating: "Echoes that did not come within \(plan.echoTimeout): \(missing.grouped).",
                count: silent
            )
        }
        return failures
    }
}

extension Result {
    /// The error; `nil` for a success.
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

/// Latencies in nanoseconds, collected by the connections of one event loop.
final class BenchRecorder: Sendable {
    private let histogram = Mutex(Histogram<UInt64>(numberOfSignificantValueDigits: .three))

    func record(_ nanoseconds: UInt64) {
        histogram.withLock { _ = $0.record(nanoseconds) }
    }

    /// How many were recorded so far.
    var count: Int {
        histogram.withLock { Int(clamping: $0.totalCount) }
    }

    /// All that was recorded, of several recorders.
    static func merged(_ recorders: [BenchRecorder]) -> Histogram<UInt64> {
        var sum = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
        for recorder in recorders {
            let part = recorder.histogram.withLock { $0 }
            sum.add(part)
        }
        return sum
    }
}

/// What the connections of a run share.
final class BenchStage: Sendable {
    /// The stages, one after the other.
    enum Name: UInt8 {
        /// Messages go, and nothing is recorded.
        case warmingUp
        /// Latencies are recorded.
        case measuring
        /// Nothing more is sent; what is on its way is still checked.
        case draining
    }

    private let stage = Atomic<UInt8>(Name.warmingUp.rawValue)

    var name: Name {
        get { Name(rawValue: stage.load(ordering: .relaxed)) ?? .draining }
        set { stage.store(newValue.rawValue, ordering: .relaxed) }
    }
}
