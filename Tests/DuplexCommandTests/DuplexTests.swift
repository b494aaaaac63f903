// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexCommand

@Suite("The command", .timeLimit(minutes: 1))
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
            ["bench", "ws://x", "--duration", "0s"], ["connect", "ws://x", "--timeout", "0"],
            ["check", "ws://x", "--timeout=-1s"], ["subscribe", "x", "a", "--timeout", "0ms"],
            ["connect", "ws://x", "--header", "no colon"],
            ["connect", "ftp://x"], ["check", "ws://x:0"], ["ping", "tcp://x:1"], ["bench", "a b"],
            ["inspect", "unix:/x"],
            ["connect", "x", "-s", "a b"], ["connect", "x", "-s", "a", "-s", "a"], ["publish", "x", "a/#", "m", "n"],
            ["subscribe", "x", "a/#/b"], ["serve", "-p", "0", "tcp://localhost:0"],
            ["connect", "x", "--json", "--binary"],
            ["serve", "--host", "*", "unix:/x"],
        ]
    )
    func usage(arguments: [String]) async throws {
        let result = try await RunningCommand.run(arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("Error: "))
    }

    @Test("What only shows when it is tried, and can't be meant either, ends with 64, too")
    func laterUsage() async throws {
        let host = try await RunningCommand.run(["serve", "--host", "nonsense", "--port", "0"])
        #expect(host.status == 64 && host.errors.contains("“nonsense”"))
        let redis = try await RunningCommand.run(["serve", "--topics", "--redis", "nonsense", "--port", "0"])
        #expect(redis.status == 64 && redis.errors.contains("Redis"))
    }

    @Test(
        "An option that isn't known is named, also where an argument is missing",
        arguments: [
            ["--frob"], ["serve", "--frob"], ["connect", "--frob"], ["check", "x", "--frob"], ["publish", "--frob"],
            ["publish", "--frob", "x", "room"], ["subscribe", "x", "--frob=1"], ["bench", "--frob"],
            ["ping", "--frob"],
        ]
    )
    func unknownOptions(arguments: [String]) async throws {
        let result = try await RunningCommand.run(arguments)
        #expect(result.status == 64 && result.errors.hasPrefix("Error: Unknown option '--frob"), "\(result.errors)")
    }

    @Test("An argument that is missing is named")
    func missingArgument() async throws {
        let result = try await RunningCommand.run(["publish", "x"])
        #expect(
            result.status == 64 && result.errors.hasPrefix("Error: Missing expected argument '<topic>'"),
            "\(result.errors)"
        )
    }
}
