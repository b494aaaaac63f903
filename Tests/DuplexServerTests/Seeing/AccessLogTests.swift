// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTesting
import HTTPTypes
import Logging
import Testing

@Suite("Access logs")
struct AccessLogTests {
    @Test("By default it is the server's logger that gets a message for each request")
    func logger() async throws {
        let log = RecordedLog()
        var server = WebServer(port: 0)
        server.use(.accessLog(), .requestID(), .basicAuth(realm: "x", accounts: ["frank": "secret"]))
        server.logger = log.logger
        server.get("/a/:b") { _ in "hello" }
        try await WebServer.testing(server) { client async throws in
            let answer = try await client.get("/a/1?q", fields: [.authorization: "Basic ZnJhbms6c2VjcmV0"])
            #expect(answer.text == "hello")
            #expect(try await client.get("/a/1").status == .unauthorized)
        }
        let entries = log.entries.filter { $0.message == "a request has ended" }
        #expect(entries.map { $0.metadata["status"] } == ["200", "401"] && entries.allSatisfy { $0.level == .info })
        #expect(entries.map { $0.metadata["user"] } == ["frank", nil])
        #expect(entries.first?.metadata["target"] == "/a/1?q" && entries.first?.metadata["route"] == "/a/:b")
        #expect(entries.first?.metadata["id"]?.count == 32 && entries.first?.metadata["bytes"] == "5")
    }

    @Test("Standard output and error are named by what is to be written there")
    func streams() {
        for output in [AccessLogOutput.standardOutput(), .standardError(.json)] { _ = RouteOption.accessLog(output) }
    }
}
