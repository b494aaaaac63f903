// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import Testing

@Suite("Values that go with a request")
struct RequestKeyTests {
    private enum User: RequestKey { typealias Value = String }
    private enum Number: RequestKey { typealias Value = Int }

    @Test("Each is found by its key, where a step has noted it")
    func values() async throws {
        var server = WebServer(port: 0)
        server.use(
            .before { request in
                request[Number.self] = 1
                if request.query == "user" { request[User.self] = "mia" }
                return nil
            }
        )
        server.use(
            .before { request in
                request[Number.self] = request[Number.self].map { $0 + 1 }
                if request.query == "none" { request[Number.self] = nil }
                return nil
            }
        )
        server.get("/") { request in
            "\(request[User.self] ?? "nobody") \(request[Number.self].map(String.init) ?? "none")"
        }
        try await WebServer.testing(server) { client async throws in
            #expect(try await client.get("/?user").text == "mia 2")
            #expect(try await client.get("/").text == "nobody 2")
            #expect(try await client.get("/?none").text == "nobody none")
        }
    }
}
