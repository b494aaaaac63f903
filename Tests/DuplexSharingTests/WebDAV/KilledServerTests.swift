// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Synchronization
import Testing

/// kill -9 while clients write, move, note and lock: behind a restart everything is as it was before the request that wasn't
/// answered, or as it is after it, and what was answered was done.
///
/// `DUPLEX_KILLS` says how often, `DUPLEX_SEED` repeats a run; scripts/more/heavy has the long one.
@Suite("A server that is killed", .timeLimit(minutes: 60))
struct KilledServerTests {
    private static func number(_ variable: String) -> UInt64? {
        ProcessInfo.processInfo.environment[variable].flatMap { UInt64($0) }
    }

    @Test("Everything is old or new and whole, and nothing is left over")
    func kills() async throws {
        let count = Self.number("DUPLEX_KILLS") ?? 20
        let seed = Self.number("DUPLEX_SEED") ?? .random(in: 0...UInt64(UInt32.max))
        print("\(count) kills, DUPLEX_SEED=\(seed)")
        var generator = SeededGenerator(seed: seed)
        try await withTestFolder { root in
            let workers: [any KilledWorker] = [
                FileWorker(root), TreeWorker(root), PropertyWorker(root), LockWorker(root), FileWorker(root, "other"),
            ]
            for worker in workers { try await worker.prepare() }
            var server = try await ServerProcess(sharing: root)
            // A busy machine may need more of them until everybody has been answered once.
            var round = 0
            while round < count || workers.contains(where: { $0.done == 0 }) && round < 10 * count {
                defer { round += 1 }
                let seeds = workers.map { _ in generator.next() }
                // Long enough for some dozens of requests, and for none.
                let time = Duration.microseconds(Int64.random(in: 0...150_000, using: &generator))
                await withTaskGroup(of: Void.self) { group in
                    for (worker, seed) in zip(workers, seeds) {
                        group.addTask { [server] in await worker.work(server, SeededGenerator(seed: seed)) }
                    }
                    // A moment is what is tried here: there is nothing to wait for.
                    try? await Task.sleep(for: time)
                    await server.kill()
                }
                server = try await ServerProcess(sharing: root)
                for worker in workers {
                    do { try await worker.verify(server) } catch {
                        Issue.record("round \(round) of DUPLEX_SEED=\(seed): \(error)")
                        throw error
                    }
                }
                try Self.checkLeftovers(root)
            }
            await server.kill()
            let done = workers.map { "\($0.name) \($0.done)" }.joined(separator: ", ")
            print("\(round) kills survived; answered: \(done)")
            #expect(workers.allSatisfy { $0.done > 0 })
        }
    }

    /// Nothing is there but the folder of the server that runs.
    private static func checkLeftovers(_ root: String) throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root)
        let temporary = paths.filter { $0.hasPrefix(".duplex/temporary/") }
        try #require(temporary.filter { $0.split(separator: "/").count > 3 } == [])
        try #require(temporary.count <= 1 && !paths.contains { $0.contains(".duplex-") })
    }
}

/// A fault that a worker has found.
struct Inconsistent: Error, CustomStringConvertible {
    let description: String
}

/// A client that knows what there may be.
protocol KilledWorker: Sendable {
    var name: String { get }
    /// How many requests were answered.
    var done: Int { get }
    func prepare() async throws
    /// Makes one request after the other until the server has gone.
    func work(_ server: ServerProcess, _ generator: SeededGenerator) async
    /// Throws where there is something that can't be; what is there is what there is from here on.
    func verify(_ server: ServerProcess) async throws
}
