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
        }
    }
}
