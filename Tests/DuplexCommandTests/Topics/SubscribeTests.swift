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
            #expect(result.output.contains("room/1\tthree") && !result.output.contains("\u{1b}"))
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
