// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexServer
import DuplexTestTimes
import DuplexTesting
import HTTPTypes
import Testing

@testable import DuplexCommand

@Suite(.timeLimit(minutes: 1)) struct InspectedServerTests {
    @Test("With --inspect there is an inspector, which lets nobody in without its token; without it there is none")
    func flag() async throws {
        for (arguments, status) in [(["--inspect"], 401), ([], 426)] {
            let options = try ServeArguments.parse(["--quiet"] + arguments)
            let server = try options.server(serving: nil, tls: nil, log: nil)
            try await WebServer.testing(server) { client async throws in
                #expect(try await client.get("/_inspect/").status.code == status)
            }
        }
    }

    @Test("What may be changed is named, and another name is refused with those that there are")
    func changes() throws {
        #expect(try ServeArguments.parse(["--inspect-allow", "sql"]).inspectorChanges == ["sql"])
        let error = #expect(throws: (any Error).self) {
            try ServeArguments.parse(["--inspect-allow", "everything"]).validate()
        }
        #expect(error.map { ServeArguments.message(for: $0).contains("replaying") } == true)
    }
}
