// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexCommand

@Suite("duplex publish", .timeLimit(minutes: 1))
struct PublishTests {
    @Test("What the server refuses is told, and a server that isn't there ends it with 2")
    func failures() async throws {
        let gone = try await RunningCommand.run(["publish", "ws://127.0.0.1:1/", "a", "b", "--timeout", "5s"])
        #expect(gone.status == 2 && gone.errors.contains("127.0.0.1:1"))
        try await withServeCommand(["--topics"]) { authority in
            let refused = try await RunningCommand.run(["publish", "ws://\(authority)/topics", "chat", "hi"])
            #expect(refused.status == 1 && refused.errors.contains("allowed"))
            let foreign = try await RunningCommand.run(["publish", "ws://\(authority)/echo", "room/1", "x"])
            #expect(foreign.status == 4 && foreign.errors.contains("protocol of topics"), "\(foreign)")
            #expect(foreign.output == "")
        }
    }

    @Test("Without a text it publishes each line of its input, and prints where each stands")
    func input() async throws {
        try await withServeCommand(["--topics"]) { authority in
            let url = "ws://\(authority)/topics"
            let lines = (1...50).map { "line \($0)" }.joined(separator: "\n")
            let result = try await RunningCommand.run(["publish", url, "room/1"], input: lines)
            #expect(result.status == 0 && result.errors == "", "\(result)")
            #expect(
                result.output.split(separator: "\n").map { $0.split(separator: "-").last } == (1...50).map { "\($0)" }
            )
            let kept = try await RunningCommand.run(["subscribe", url, "room/1", "--last", "50", "-n", "50"])
            #expect(kept.output == lines + "\n")
            let none = try await RunningCommand.run(["publish", url, "room/1"])
            #expect(none == CommandResult(status: 0, output: "", errors: ""))
        }
    }

    @Test("A line that can't be published ends it: those before it are published, and the number of the line is told")
    func badInput() async throws {
        try await withServeCommand(["--topics"]) { authority in
            let url = "ws://\(authority)/topics"
            let result = try await RunningCommand.run(
                ["publish", url, "room/1"],
                input: Array("a\n".utf8) + [0xFF, 0x0A]
            )
            #expect(result.status == 1 && result.errors.contains("Line 2"), "\(result)")
            #expect(result.output.hasSuffix("-1\n"))
        }
    }
}
