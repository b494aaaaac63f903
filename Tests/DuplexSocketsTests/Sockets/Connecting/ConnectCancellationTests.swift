// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexTestProcesses
import DuplexTestTimes
import Glibc
import Synchronization
import Testing

@testable import DuplexSockets

/// Connecting is given up at any moment, and nothing stays behind.
@Suite struct ConnectCancellationTests {
    @Test("Ten thousand attempts that are cancelled at random moments leave no descriptor and no timer behind")
    func randomMoments() async {
        let child = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            // Loops that are started at once and live on, so that they count before as well as after.
            let clients = try EventLoopGroup(loops: 2)
            // What the process opens for itself, once, is open then.
            await useTimers()
            _ = try await CancelledAttempts.run(64, seed: 1, on: clients)
            let before = OpenDescriptors.open()
            let outcomes = try await CancelledAttempts.run(10_000, seed: 0x5EED, on: clients)
            try await CancelledAttempts.check(clients, outcomes, before: before)
            await clients.stop()
        }
        OpenDescriptors.expectNoReport(child)
    }
}

/// Attempts that are cancelled after a random number of steps.
private struct CancelledAttempts: Sendable {
    /// How often what came out.
    struct Outcomes: Sendable {
        var connected = 0
        var cancelled = 0
        var failed: [String] = []
    }

    private static let atOnce = 32

    let address: SocketAddress
    let silent: SocketAddress
    let group: EventLoopGroup

    static func run(_ count: Int, seed: UInt64, on group: EventLoopGroup) async throws -> Outcomes {
        let servers = try EventLoopGroup(loops: 1)
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0), on: servers)
        let serving = Task { try await listener.serve { socket in _ = try? await socket.read() } }
        // At the same port, which is what the addresses of a name have in common.
        let (silent, unanswered) = try Descriptors.silent(host: "127.0.0.2", port: listener.localAddress.port)
        let attempts = CancelledAttempts(address: listener.localAddress, silent: unanswered, group: group)
        let outcomes = await attempts.run(count, seed: seed)
        serving.cancel()
        _ = await serving.result
        await listener.close()
        await servers.stop()
        for descriptor in silent { SystemCalls.close(descriptor) }
        return outcomes
    }

    private func run(_ count: Int, seed: UInt64) async -> Outcomes {
        var random = SeededGenerator(seed: seed)
        var outcomes = Outcomes()
        await withTaskGroup(of: Outcomes.self) { tasks in
            for index in 0..<count {
                if index >= Self.atOnce, let outcome = await tasks.next() { outcomes.add(outcome) }
                let kind = Int.random(in: 0..<4, using: &random)
                let steps = Int.random(in: 0..<24, using: &random)
                let delay = Int.random(in: 0..<24, using: &random)
                tasks.addTask { await attempt(kind, cancelledAfter: steps, lookup: delay) }
            }
            for await outcome in tasks { outcomes.add(outcome) }
        }
        return outcomes
    }

    /// One attempt, which is cancelled when the loops have gone round some times.
    private func attempt(_ kind: Int, cancelledAfter steps: Int, lookup: Int) async -> Outcomes {
        let stages = OpenStages()
        var options = options(lookup)
        options.onStage = { stages.tell($0) }
        let task = Task { [options] in try await Socket.connect(to: endpoint(kind), options: options, on: group) }
        for step in 0..<steps { try? await group.loops[step % group.loops.count].run { _ in } }
        task.cancel()
        var outcome = Outcomes()
        do {
            let socket = try await task.value
            await socket.reset()
            outcome.connected = 1
        } catch is CancellationError {
            outcome.cancelled = 1
        } catch {
            outcome.failed = ["\(error)"]
        }
        // Whatever was begun is over by now.
        outcome.failed += stages.faults
        return outcome
    }

    private func endpoint(_ kind: Int) -> Endpoint {
        switch kind {
        case 0: .address(address)
        case 1: .address(silent)
        default: .host("name.test", port: address.port)
        }
    }

    /// A name that takes a while, and has an address that refuses, one that gives no answer and one that answers.
    private func options(_ delay: Int) -> ConnectOptions {
        var options = ConnectOptions(timeout: .limit(seconds: 60))
        options.attemptDelay = .milliseconds(10)
        options.attemptTimeout = .seconds(30)
        let loop = group.loops[0]
        options.resolver = ClosureResolver { [silent, address] _ in
            for _ in 0..<delay { try await loop.run { _ in } }
            return [try SocketAddress("127.0.0.3", port: 0), silent, address]
        }
        return options
    }

    /// Reports what doesn't make sense, and what has been left behind.
    static func check(_ group: EventLoopGroup, _ outcomes: Outcomes, before: [Int32: String]) async throws {
        guard outcomes.failed.isEmpty else { OpenDescriptors.report("failed: \(outcomes.failed.prefix(3))\n") }
        // Otherwise the moments weren't random enough to tell anything.
        guard outcomes.connected > 100, outcomes.cancelled > 1_000 else {
            OpenDescriptors.report("connected: \(outcomes.connected), cancelled: \(outcomes.cancelled)\n")
        }
        for loop in group.loops {
            let (watched, timers) = try await loop.run { core in (core.watchedCount, core.timerCount) }
            guard watched == 0, timers == 0 else { OpenDescriptors.report("watched: \(watched), timers: \(timers)\n") }
        }
        // Sockets that were dropped late are closed on a thread of their own. One that was open before may be gone: libdispatch
        // closes an eventfd(2) of its own at some moment after the start.
        let isGone = await comesTrue(within: .limit(seconds: 10)) { OpenDescriptors.opened(since: before).isEmpty }
        guard isGone else { OpenDescriptors.report("left: \(OpenDescriptors.opened(since: before))\n") }
    }
}

/// The stages that were begun and aren't over.
private final class OpenStages: Sendable {
    private let state = Mutex<(open: [String], faults: [String])>(([], []))

    func tell(_ event: StageEvent) {
        let name = "\(event.stage) \(event.address.map { "\($0)" } ?? "")"
        state.withLock { state in
            if !event.phase.isEnd { return state.open.append(name) }
            if let index = state.open.firstIndex(of: name) {
                state.open.remove(at: index)
            } else {
                state.faults.append("\(event) without a beginning")
            }
        }
    }

    var faults: [String] { state.withLock { $0.faults + $0.open.map { "\($0) without an end" } } }
}

extension CancelledAttempts.Outcomes {
    fileprivate mutating func add(_ other: CancelledAttempts.Outcomes) {
        connected += other.connected
        cancelled += other.cancelled
        failed += other.failed
    }
}
#endif
