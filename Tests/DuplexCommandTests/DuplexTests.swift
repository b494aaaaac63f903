// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("The command", .timeLimit(.minutes(1)))
struct DuplexTests {
    @Test("It tells its version")
    func version() async throws {
        #expect(try await RunningCommand.run(["--version"]) == CommandResult(status: 0, output: "0.1.0\n", errors: ""))
    }

    @Test("Help names every subcommand and every exit status")
    func help() async throws {
        let result = try await RunningCommand.run(["--help"])
        #expect(result.status == 0)
        for word in ["serve", "connect", "ping", "bench", "Exit status", "2 cannot connect"] {
            #expect(result.output.contains(word))
        }
    }

    @Test(
        "Wrong usage ends with 64 and says what is wrong on standard error",
        arguments: [
            ["nothing"], ["serve", "--port", "65536"], ["serve", "--max-message", "much"], ["serve", "--echo", "x"],
            ["serve", "--echo", "/chat"], ["serve", "--loops", "0"], ["connect"], ["connect", "ws://x", "-n", "-1"],
            ["connect", "ws://x", "--echo", "-x", "y"], ["ping", "ws://x", "-c", "-1"],
            ["bench", "ws://x", "--depth", "0"],
            ["bench", "ws://x", "--duration", "0s"], ["connect", "ws://x", "--header", "no colon"],
        ]
    )
    func usage(arguments: [String]) async throws {
        let result = try await RunningCommand.run(arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("Error: "))
    }
}
