// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexSockets
import DuplexTestProcesses
import Foundation
import Synchronization
import Testing

/// What a process holds after servers and clients of all kinds have lived and ended in it, again and again.
///
/// `scripts/soak MINUTES` has a cycle of a minute, as often as it says; the suite has two short ones.
@Suite("Soak") struct SoakTests {
    @Test(
        "Descriptors, threads, timers and connections are the same after each cycle of servers, clients, faults and a restart",
        .enabled(if: ProcessInfo.processInfo.environment["DUPLEX_SOAK_MINUTES"] == nil),
        .timeLimit(.minutes(5))
    )
    func short() async {
        let child = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let limits = Limits(goesOn: { $0 < 10 }, isHalf: { $0 >= 60 })
            _ = try await SoakTests.run(cycles: 2) {
                limits
            } report: { _ in
            }
        }
        let text = child.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
        #expect(text == "")
    }

    @Test(
        "So they are after many minutes, and the memory is",
        .enabled(if: ProcessInfo.processInfo.environment["DUPLEX_SOAK_MINUTES"] != nil),
        .timeLimit(.minutes(10_000))
    )
    func long() async throws {
        let minutes = try #require(ProcessInfo.processInfo.environment["DUPLEX_SOAK_MINUTES"].flatMap { Int($0) })
        let clock = ContinuousClock()
        let sizes = try await Self.run(cycles: minutes) {
            let begin = clock.now
            return Limits(
                goesOn: { _ in clock.now < begin.advanced(by: .seconds(56)) },
                isHalf: { _ in clock.now > begin.advanced(by: .seconds(28)) }
            )
        } report: {
            print($0)
        }
        // The first cycles fill the allocator and the caches.
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

    /// Runs cycles, and holds what each leaves to what the first has left.
    ///
    /// - Parameters:
    ///   - cycles: how many.
    ///   - limits: called at the beginning of each.
    ///   - report: called with a line about each.
    /// - Returns: the resident memory behind each, in KiB.
    /// - Throws: what one has left that the first hasn't, and what kept it from running.
    static func run(cycles: Int, _ limits: () -> Limits, report: (String) -> Void) async throws -> [Int] {
        await useTimers()
        let group = try EventLoopGroup(loops: 2)
        var first: Soak.Sample?
        var sizes: [Int] = []
        for cycle in 1...cycles {
            let limits = limits()
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
            report(
                "cycle \(cycle): \(sample.descriptors) descriptors, \(sample.threads) threads, \(sample.timers) timers, "
                    + "\(sample.watched) watched, \(sample.connections) connections, \(sizes.last ?? 0) KiB; "
                    + outcomes.sorted { $0.key < $1.key }
                    .map { "\($0.key) \($0.value.rounds)+\($0.value.failures)" }.joined(separator: ", ")
            )
            guard isSettled, sample == first else {
                throw SoakDifference(text: "cycle \(cycle) has left \(sample), the first \(String(describing: first))")
            }
            // Faults end some; the half of all comes through even so.
            let (through, ended) = outcomes.values.reduce((0, 0)) { ($0.0 + $1.rounds, $0.1 + $1.failures) }
            guard through > ended else {
                throw SoakDifference(text: "cycle \(cycle): \(through) rounds came through, \(ended) didn't")
            }
        }
        await group.stop()
        return sizes
    }
}

private struct SoakDifference: Error {
    let text: String
}
#endif
