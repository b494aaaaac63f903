// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Synchronization
import Testing

/// What a process holds after servers and clients of all kinds have lived and ended in it, again and again.
///
/// `scripts/more/soak MINUTES` has a cycle of a minute, as often as it says; the suite has two short ones.
@Suite("Soak") struct SoakTests {
    @Test(
        "Descriptors, threads, timers and connections are the same after each cycle of servers, clients, faults and a restart",
        .enabled(if: ProcessInfo.processInfo.environment["DUPLEX_SOAK_MINUTES"] == nil),
        .timeLimit(minutes: 5)
    )
    func short() async {
        let child = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let run = try await SoakRun()
            for _ in 1...2 { _ = try await run.cycle(Limits(goesOn: { $0 < 10 }, isHalf: { $0 >= 60 })) }
            await run.end()
        }
        let text = child.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
        #expect(text == "")
    }

    private static let minutes = ProcessInfo.processInfo.environment["DUPLEX_SOAK_MINUTES"].flatMap { Int($0) }
    private static let longRun = Task { try await SoakRun() }

    /// A case for each minute, all of one run: behind each the test library forgets the errors that were thrown in it, for each of
    /// which it keeps a backtrace until then, some hundred bytes.
    @Test(
        "So they are after many minutes, and the memory is",
        .enabled(if: minutes != nil),
        .serialized,
        .timeLimit(minutes: 5),
        arguments: 1...(minutes ?? 1)
    )
    func long(minute: Int) async throws {
        let minutes = try #require(Self.minutes)
        let run = try await Self.longRun.value
        let clock = ContinuousClock()
        let begin = clock.now
        let limits = Limits(
            goesOn: { _ in clock.now < begin.advanced(by: .seconds(56)) },
            isHalf: { _ in clock.now > begin.advanced(by: .seconds(28)) }
        )
        print(try await run.cycle(limits))
        guard minute == minutes else { return }
        await run.end()
        // The first cycles fill the allocator and the caches.
        let sizes = await run.sizes
        let warm = sizes.dropFirst(minutes / 5)
        let early = try #require(warm.prefix(max(minutes / 5, 1)).max())
        let late = try #require(sizes.suffix(max(minutes / 5, 1)).max())
        print("resident memory: at most \(early) KiB early on, at most \(late) KiB at the end")
        #expect(late < early + 4_096)
    }

    /// How long the clients of a cycle go on.
    struct Limits: Sendable {
        /// Whether a client is to begin another round, with how many it has had.
        var goesOn: @Sendable (Int) -> Bool
        /// Whether it's time for the restart, with how many rounds there were of all clients.
        var isHalf: @Sendable (Int) -> Bool
    }
}

/// Cycles, of which each is to leave what the first has left.
private actor SoakRun {
    /// The resident memory behind each, in KiB.
    private(set) var sizes: [Int] = []
    private let group: EventLoopGroup
    private var first: Soak.Sample?

    init() async throws {
        await useTimers()
        group = try EventLoopGroup(loops: 2)
    }

    func end() async {
        await group.stop()
    }

    /// Runs one.
    ///
    /// - Returns: a line about it.
    /// - Throws: what it has left that the first hasn't, and what kept it from running.
    func cycle(_ limits: SoakTests.Limits) async throws -> String {
        let soak = try Soak(on: group, limits.goesOn)
        try await soak.cycle(limits.isHalf)
        let expected = first
        var sample = await soak.sample()
        let isSettled = await comesTrue {
            sample = await soak.sample()
            return sample.connections == 0 && sample.timers == 0 && (expected == nil || sample == expected)
        }
        if first == nil { first = sample }
        sizes.append(Soak.residentSize)
        let outcomes = soak.outcomes.withLock { $0 }
        guard isSettled, sample == first else {
            let difference = "has left \(sample), the first \(String(describing: first))"
            throw SoakDifference(text: "cycle \(sizes.count) \(difference)")
        }
        // Faults end some; the half of all comes through even so.
        let (through, ended) = outcomes.values.reduce((0, 0)) { ($0.0 + $1.rounds, $0.1 + $1.failures) }
        guard through > ended else {
            throw SoakDifference(text: "cycle \(sizes.count): \(through) rounds came through, \(ended) didn't")
        }
        return "cycle \(sizes.count): \(sample.descriptors) descriptors, \(sample.threads) threads, "
            + "\(sample.timers) timers, \(sample.watched) watched, \(sample.connections) connections, \(sizes.last ?? 0) KiB; "
            + outcomes.sorted { $0.key < $1.key }
            .map { "\($0.key) \($0.value.rounds)+\($0.value.failures)" }.joined(separator: ", ")
    }
}

private struct SoakDifference: Error {
    let text: String
}
#endif
