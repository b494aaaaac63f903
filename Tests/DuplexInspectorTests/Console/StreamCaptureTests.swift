// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Foundation
import Testing

@testable import DuplexInspector

/// In processes of their own, since each has its streams once.
@Suite("What a process writes is passed on, and seen", .timeLimit(minutes: 3))
struct StreamCaptureTests {
    private static let thousand = (0..<1_000).map { "line \($0)\n" }.joined()

    @Test("What is written right before exit arrives, byte for byte")
    func exits() async throws {
        let run = try await CaptureProcess(.exits)
        #expect(run.status == 3)
        #expect(run.output == "printed\n" + String(repeating: "x", count: 200_000) + "\nthe end")
        #expect(run.errors == "an error\n")
    }

    @Test(
        "So it does before a fault, abort and a signal that nobody handles",
        arguments: [(.traps, SIGILL), (.traps, SIGTRAP), (.aborts, SIGABRT), (.isTerminated, SIGTERM)]
            as [(CaptureProcess.Scenario, Int32)]
    )
    func ends(scenario: CaptureProcess.Scenario, signal: Int32) async throws {
        #if arch(x86_64)
        if signal == SIGTRAP { return }
        #else
        if signal == SIGILL { return }
        #endif
        let run = try await CaptureProcess(scenario)
        #expect(run.status == signal)
        #expect(run.output == Self.thousand)
        #expect(run.errors.contains("the last word") == (scenario == .traps), "\(run.errors)")
    }

    @Test("Streams that are one file keep their order, in the file and in the console")
    func alternates() async throws {
        let run = try await CaptureProcess(.alternates)
        let numbers = (0..<2_000).map { "\($0)" }
        #expect(run.status == 0)
        #expect(run.output == numbers.joined(separator: "\n") + "\n")
        #expect(run.seen == numbers.map { "both \($0)" })
    }

    @Test("It ends, and another one begins; what is written between them is seen by nobody")
    func endsAndBegins() async throws {
        let run = try await CaptureProcess(.endsAndBegins)
        #expect(run.status == 0 && run.output == "one\ntwo\nthree\n")
        #expect(run.seen == ["output one", "output three"])
    }

    @Test("Programs that the process starts are seen, also behind the end of the capture")
    func children() async throws {
        let run = try await CaptureProcess(.hasChildren)
        #expect(run.status == 0 && run.output == "early\nlate\n" && run.errors == "last\n")
        #expect(Set(run.seen) == ["output early", "output late", "error last"])
    }

    @Test(
        "A stream that leads nowhere, or to nobody, is seen all the same",
        arguments: [.isClosed, .isUnread] as [CaptureProcess.Scenario]
    )
    func nowhere(scenario: CaptureProcess.Scenario) async throws {
        let run = try await CaptureProcess(scenario)
        #expect(run.status == 0 && run.output == "")
        #expect(run.seen == ["output heard"])
    }

    @Test("Who writes more than is read waits, and nothing of it is lost")
    func full() async throws {
        let run = try await CaptureProcess(.isFull)
        let lines = (0..<5_000).map { "\($0) \(String(repeating: "x", count: 90))" }
        #expect(run.status == 0)
        #expect(run.output.split(separator: "\n").map { String($0) } == lines)
        #expect(run.seen == lines.map { "output \($0)" })
    }

    @Test("There is one at a time")
    func twice() async throws {
        let run = try await CaptureProcess(.wantsTwice)
        #expect(run.status == 0 && run.output.contains("captured already"), "\(run.output)")
    }

    @Test("Without a descriptor left everything still reaches its place; what can't be captured isn't, and goes there")
    func lacksDescriptors() async throws {
        let run = try await CaptureProcess(.lacksDescriptors)
        let lines = run.output.split(separator: "\n").map(String.init)
        let written = (0..<1_000).map { "without \($0)" }
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(Array(lines.prefix(1_000)) == written)
        let tries = lines.dropFirst(1_000)
        #expect(tries.map { $0.split(separator: " ").last.flatMap { Int($0) } } == Array(0...16), "\(tries)")
        #expect(tries.first == "refused with 0" && tries.last == "captured with 16", "\(tries)")
        #expect(run.seen.filter { $0.hasPrefix("output without") } == written.map { "output \($0)" })
    }

    @Test("A line that isn't ended is shown, and goes on in the next one")
    func prompts() async throws {
        let run = try await CaptureProcess(.prompts)
        #expect(run.status == 0 && run.output == "Password: thanks\n")
        #expect(run.seen == ["output+ Password: ", "output thanks"])
    }
}
