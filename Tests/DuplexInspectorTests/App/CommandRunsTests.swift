// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Synchronization
import Testing

@testable import DuplexInspector

@Suite("Runs of commands")
struct CommandRunsTests {
    private let log = RecordedLog()

    private func command(
        _ name: String = "a",
        within limit: Duration = .limit(seconds: 60),
        _ run: @escaping @Sendable (InspectorArguments) async throws -> InspectorCommandResponse
    ) -> CommandDefinition {
        CommandDefinition(name: name, detail: "", arguments: [], limit: limit, run: run)
    }

    private func begin(_ runs: CommandRuns, _ command: CommandDefinition) throws -> Int {
        try runs.begin(command, InspectorArguments([:], for: []), log.logger)
    }

    private func shown(_ runs: CommandRuns, _ id: Int) throws -> CommandRuns.Shown {
        CommandRuns.Shown(try #require(runs.run(id)), withAnswer: true)
    }

    /// Waits until that many have ended, which the log is told of.
    private func ended(_ count: Int) async throws {
        _ = try await log.entry(of: "a command of the inspector has ended", times: count)
    }

    @Test("A run ends with its answer, its failure, or because it was stopped")
    func endings() async throws {
        let runs = CommandRuns()
        let done = try begin(runs, command { _ in "good" })
        try await ended(1)
        #expect(try shown(runs, done).answer == InspectorCommandResponse.Shown(text: "good"))
        let failed = try begin(runs, command { _ in throw Problem(.badRequest, "The disk is full.") })
        try await ended(2)
        #expect(try shown(runs, failed).error == "The disk is full.")
        let isStopped = Bulletin(false)
        let stopped = try begin(
            runs,
            command { _ in
                defer { isStopped.change { $0 = true } }
                try await Task.sleep(for: .seconds(600))
                return ""
            }
        )
        #expect(runs.stop(stopped))
        try await ended(3)
        #expect(runs.run(stopped)?.state.name == "stopped" && !runs.stop(stopped))
        #expect(try await isStopped.wait { $0 ? true : nil })
        #expect(log.entries.compactMap { $0.metadata["outcome"] } == ["done", "failed", "stopped"])
        runs.removeEnded()
        #expect(runs.run(done) == nil && runs.list.isEmpty)
    }

    @Test("A run that is late has failed, and counts as running until its closure returns")
    func late() async throws {
        try await TestLoop.run { loop in
            let runs = CommandRuns(on: loop.clock)
            let gate = Bulletin(false)
            let id = try begin(
                runs,
                command(within: .seconds(5)) { _ in
                    _ = try await Task.detached { try await gate.wait { $0 ? true : nil } }.value
                    return ""
                }
            )
            while runs.run(id)?.ended == nil { await loop.advance(by: .seconds(1)) }
            #expect(try shown(runs, id).error?.contains("hasn't answered within 5.0 seconds") == true)
            #expect(runs.openCount == 1)
            gate.change { $0 = true }
            while runs.openCount > 0 { await Task.yield() }
        }
    }

    @Test("No more than 16 run at a time")
    func bound() async throws {
        let runs = CommandRuns()
        let waiting = command { _ in
            try await Task.sleep(for: .seconds(600))
            return ""
        }
        let all = try (0..<16).map { _ in try begin(runs, waiting) }
        let problem = #expect(throws: Problem.self) { try begin(runs, waiting) }
        #expect(problem?.status == .tooManyRequests)
        for id in all { #expect(runs.stop(id)) }
        try await ended(16)
    }

    @Test("The last 50 are kept, and answers only as far as there is room")
    func history() async throws {
        let runs = CommandRuns()
        let megabyte = String(repeating: "x", count: 1_000_000)
        var ids: [Int] = []
        for number in 1...60 {
            ids.append(try begin(runs, command { _ in number > 50 ? .text(megabyte) : "" }))
            try await ended(number)
        }
        #expect(runs.run(ids[9]) == nil && runs.run(ids[10]) != nil)
        let last = ids.suffix(10).compactMap { runs.run($0) }
        #expect(last.map(\.isForgotten) == [true, true] + Array(repeating: false, count: 8))
        #expect(last.reduce(0) { $0 + $1.size } <= 8 * 1_048_576)
    }
}
