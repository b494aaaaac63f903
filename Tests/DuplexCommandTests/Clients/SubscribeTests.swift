// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexCommand

@Suite("duplex subscribe", .timeLimit(minutes: 1))
struct SubscribeTests {
    @Test("It prints what is kept and what comes, with topics where that is wanted, and ends behind so many")
    func prints() async throws {
        try await withServeCommand(["--topics"]) { authority in
            let url = "ws://\(authority)/topics"
            for text in ["one", "two"] {
                let result = try await RunningCommand.run(["publish", url, "room/1", text])
                #expect(result.status == 0 && result.output.hasSuffix("-\(text == "one" ? 1 : 2)\n"))
            }
            let subscriber = try RunningCommand(["subscribe", url, "room/1", "--last", "1", "-n", "2", "--topics"])
            #expect(try await subscriber.readLine() == "room/1\ttwo")
            let third = try await RunningCommand.run(["publish", url, "room/1", "three\u{1b}[31m"])
            #expect(third.status == 0)
            let result = try await subscriber.finish()
            #expect(result.status == 0)
            #expect(result.output == "room/1\tthree\u{1b}[31m\n")
        }
    }

    @Test("In a pipe a message is printed as it was published, line feeds, tabs and bytes that aren't text too")
    func pipe() async throws {
        try await withServeCommand(["--topics"]) { authority in
            let url = "ws://\(authority)/topics"
            let text = "{\n\t\"a\": \"ü\u{202e}\u{1b}\"\n}"
            #expect(try await RunningCommand.run(["publish", url, "room/1", text]).status == 0)
            let result = try await RunningCommand.run(["subscribe", url, "room/1", "--last", "1", "-n", "1"])
            #expect(result == CommandResult(status: 0, output: text + "\n", errors: ""))
        }
    }

    @Test("A server that doesn't speak the protocol of topics ends it with 4")
    func foreign() async throws {
        try await withServeCommand(["--topics"]) { authority in
            let result = try await RunningCommand.run(["subscribe", "ws://\(authority)/echo", "room/1"])
            #expect(result.status == 4 && result.errors.contains("protocol of topics"), "\(result)")
        }
    }

    @Test("Interrupted it ends, and a number that isn't one is refused")
    func ends() async throws {
        #expect(try await RunningCommand.run(["subscribe", "ws://127.0.0.1:1/", "a", "-n", "0"]).status == 64)
        try await withServeCommand(["--topics"]) { authority in
            let url = "ws://\(authority)/topics"
            let refused = try await RunningCommand.run(["subscribe", url, "room//1"])
            #expect(refused.status == 64 && refused.errors.contains("“room//1”"))
        }
    }
}
