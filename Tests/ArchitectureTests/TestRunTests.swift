// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Foundation
import Testing

/// Runs `scripts/more/test-run` with a `swift` that plays back what a runner of the tests recorded.
@Suite("A test that fails is run again by itself, once")
struct TestRunTests {
    @Test("If it passes then, the run passes, and the test is named with its message")
    func failsOnce() async throws {
        let run = try await RecordedRun.of([.failing(["once"]), .passing(["once"])])
        #expect(run.status == 0)
        #expect(
            run.failedOnce == """
                - "Sentence once" (LibTests.ASuite/once()), with epoll:
                    T.swift:14:37: Expectation failed: a == b
                    said
                    more

                """
        )
        #expect(run.report.contains("Test run with 3 tests in 1 suite failed after 0.1 seconds"))
        #expect(run.report.contains("Test run with 1 test in 1 suite passed after 0.1 seconds"))
    }

    @Test("If it fails twice, the run fails")
    func failsTwice() async throws {
        let run = try await RecordedRun.of([.failing(["twice"]), .failing(["twice"])])
        #expect(run.status == 1)
        #expect(run.failedOnce == "")
        #expect(run.attempts == 2)
    }

    @Test("Each of several is run by itself; one that fails twice fails the run")
    func runsEach() async throws {
        let run = try await RecordedRun.of([
            .failing(["a", "b", "c"]), .passing(["a"]), .failing(["b"]), .passing(["c"]),
        ])
        #expect(run.status == 1)
        #expect(run.attempts == 4)
        #expect(run.failedOnce.contains("ASuite/a()") && run.failedOnce.contains("ASuite/c()"))
        #expect(!run.failedOnce.contains("ASuite/b()"))
    }

    @Test("The second attempt has the arguments of the first without its choice of tests, and means this test only")
    func choosesOne() async throws {
        let arguments = ["-c", "release", "--filter", "ASuite", "--skip=Other", "--skip", "Others"]
        let run = try await RecordedRun.of([.failing(["`a (b)`"]), .passing(["`a (b)`"])], arguments)
        #expect(run.status == 0)
        #expect(
            run.arguments[1].hasPrefix(
                #"test -c release --skip-build --filter ^(LibTests\.ASuite/`a \(b\)`\(\))(/|$) --event-stream-output-path "#
            )
        )
    }

    @Test("Built tests are started without SwiftPM, with the same choice of tests")
    func startsDirectly() async throws {
        let arguments = ["--skip-build", "--skip", "Other"]
        let run = try await RecordedRun.of([.failing(["a"]), .passing(["a"])], arguments, isBundle: true)
        #expect(run.status == 0)
        #expect(run.arguments[0].hasPrefix("--testing-library swift-testing --skip Other --event-stream-output-path "))
        #expect(
            run.arguments[1].hasPrefix(
                #"--testing-library swift-testing --filter ^(LibTests\.ASuite/a\(\))(/|$) --event-stream-output-path "#
            )
        )
    }

    @Test("A second attempt in which the test doesn't run counts as a failure")
    func mustRun() async throws {
        let run = try await RecordedRun.of([.failing(["once"]), .passing([])])
        #expect(run.status == 1)
        #expect(run.failedOnce == "")
        #expect(run.report.contains(#"It wasn't run: "Sentence once""#))
    }

    @Test("A crash fails the run, and the tests that it interrupted are named")
    func crashes() async throws {
        let run = try await RecordedRun.of([.crashing(in: "crash", after: ["before"])])
        #expect(run.status == 1)
        #expect(run.attempts == 1)
        #expect(run.report.contains("Fatal error: boom"))
        #expect(run.report.contains("Thread 4 \"worker\" crashed:"))
        #expect(run.report.contains("had begun and not ended:\n  \"Sentence crash\" (LibTests.ASuite/crash())\n"))
        #expect(run.report.contains("the last to end:\n  \"Sentence before\" (LibTests.ASuite/before())\n"))
        #expect(run.report.contains("The run has no closing line"))
    }

    @Test("A run that says nothing is ended, and fails with the tests that it interrupted")
    func hangs() async throws {
        let run = try await RecordedRun.of([.silent(in: "hang")], silence: "0.2")
        #expect(run.status == 1)
        #expect(run.attempts == 1)
        #expect(run.report.contains("said nothing for a long time"))
        #expect(run.report.contains("\"Sentence hang\""))
    }

    @Test("An issue that a thread of no test records runs all tests of its file again that had begun")
    func otherThreads() async throws {
        let first = Recording.failing([], unknown: "LibTests/T.swift")
        let run = try await RecordedRun.of([first, .passing(["good", "slow"])])
        #expect(run.status == 0)
        #expect(run.arguments[1].contains(#"--filter ^(LibTests\.ASuite/good\(\)|LibTests\.ASuite/slow\(\))(/|$) "#))
        #expect(run.failedOnce.hasPrefix("- One of the tests of LibTests/T.swift, with epoll:\n"))
    }

    @Test("An issue in a file without tests fails the run: which test to run again isn't known")
    func unknownFiles() async throws {
        let run = try await RecordedRun.of([.failing([], unknown: "LibTests/Support.swift")])
        #expect(run.status == 1)
        #expect(run.attempts == 1)
    }

    @Test("A run that ends with an error though no test failed isn't run again")
    func failsWithoutTest() async throws {
        let run = try await RecordedRun.of([.passing(["good"], status: 1)])
        #expect(run.status == 1)
        #expect(run.attempts == 1)
        #expect(run.report.contains("No test failed, but the run ended with 1."))
    }

    @Test("More failures than twenty aren't run again", arguments: [20, 21])
    func many(count: Int) async throws {
        let names = (0..<count).map { "test\($0)" }
        let again = count > 20 ? [] : names.map { Recording.passing([$0]) }
        let run = try await RecordedRun.of([.failing(names)] + again)
        #expect(run.status == (count > 20 ? 1 : 0))
        #expect(run.attempts == 1 + again.count)
    }

    @Test("The report ends with the tests that failed once; more than three fail the tests", arguments: [3, 4])
    func reports(count: Int) async throws {
        let once = String(repeating: "- \"A\" (B), with epoll:\n    C\n", count: count)
        let files = ["failed-once": once, "epoll.report": "closing\n"]
        let script = Repository.root.appending(path: "scripts/more/test-run").path(percentEncoded: false)
        let run = try await withTestFolder(files) { try await ProgramRun(script, "--report", $0, "epoll") }
        #expect(run.status == (count > 3 ? 1 : 0))
        #expect(
            run.text.hasPrefix("With epoll:\nclosing\n\nFailed once, and passed when run again by itself:\n" + once)
        )
        #expect(run.text.hasSuffix("These are more than 3, so the tests failed.\n") == (count > 3))
    }
}
