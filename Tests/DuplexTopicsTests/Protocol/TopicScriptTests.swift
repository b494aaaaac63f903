// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexTopics
import DuplexWire
import Testing

@Suite("A client of topics in JavaScript")
struct TopicScriptTests {
    @Test("It has 60 lines at most, and a server gives it as a module")
    func served() async throws {
        #expect(TopicScript.module.split(separator: "\n", omittingEmptySubsequences: false).count <= 60)
        var server = WebServer(port: 0)
        server.get("/topics.js") { _ in TopicScript.response }
        try await server.test { client async throws in
            let response = try await client.get("/topics.js")
            #expect(response.text == TopicScript.module)
            #expect(response.headers[.contentType] == MediaType.javaScript.rawValue)
        }
    }
}
