// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexServer

@Suite(.timeLimit(minutes: 1)) struct SecretRequestTests {
    @Test("The query of a request that is marked is in no access log, and that of another one is")
    func query() async throws {
        let lines = Mutex<[String]>([])
        var server = WebServer(port: 0)
        server.use(
            .completed { request, outcome in
                let entry = AccessEntry(request: request, outcome: outcome, showsQuery: true)
                lines.withLock { $0.append(entry.target) }
            }
        )
        let marking = RouteOption.before { request in
            request[SecretRequest.self] = true
            return nil
        }
        server.get("/secret", marking) { _ in "ok" }
        server.get("/other") { _ in "ok" }
        try await WebServer.testing(server) { client async throws in
            _ = try await client.get("/secret?token=1")
            _ = try await client.get("/other?a=1")
        }
        #expect(lines.withLock { $0 } == ["/secret", "/other?a=1"])
    }
}
