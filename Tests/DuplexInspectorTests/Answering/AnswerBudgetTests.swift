// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("How much answers may take together", .timeLimit(minutes: 1))
struct AnswerBudgetTests {
    @Test("What isn't left is refused, and is there again when an answer has gone")
    func shares() async throws {
        let budget = AnswerBudget(.bytes(10))
        var response: Response? = try await budget.holding(.bytes(8)) { Response(body: [1, 2, 3]) }
        #expect(response?.body.count == 3)
        let problem = await DatabaseFixture.problem { _ = try budget.share(3) }
        #expect(problem?.status == .serviceUnavailable && problem?.detail.contains("at a time") == true)
        _ = try budget.share(2)
        response = nil
        // One that is larger than all of it goes alone.
        let all = try budget.share(1_000)
        #expect(throws: Problem.self) { _ = try budget.share(1) }
        withExtendedLifetime(all) {}
    }

    @Test("An answer holds its share until it has been sent, whatever kind of body it has")
    func sending() async throws {
        let budget = AnswerBudget(.bytes(10))
        var server = WebServer(port: 0)
        let long = [UInt8](repeating: 7, count: 8 << 20)
        server.get("/bytes") { _ in try await budget.holding(.bytes(10)) { Response(body: long) } }
        server.get("/writer") { _ in
            try await budget.holding(.bytes(10)) { Response { writer in try await writer.write(long) } }
        }
        try await server.test { client async throws in
            for path in ["/bytes", "/writer"] {
                let connection = await client.connect()
                try await connection.send(raw: "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                // Most of it waits for this client, which takes nothing.
                #expect(await comesTrue { budget.left == 0 }, "\(path)")
                await connection.close()
                #expect(await comesTrue { budget.left == 10 }, "\(path)")
                #expect(try await client.get(path).body.count == long.count)
            }
        }
    }
}
