// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Testing

@Suite("A client of the JSON protocol", .timeLimit(.minutes(1)))
struct TopicSessionTests {
    @Test("What the app throws ends the connection of that client alone")
    func failing() async throws {
        struct Failure: Error {}
        var server = WebServer(port: 0)
        server.topics("/", of: Topics()) { access in
            if access.topic == "broken" { throw Failure() }
            return true
        }
        try await WebServer.testing(server) { client async throws in
            let (one, two) = (try await client.webSocket("/"), try await client.webSocket("/"))
            try await one.send(#"{"subscribe":"broken"}"#)
            await #expect(throws: WebSocketError.self) { try await one.receive() }
            #expect(await one.closeReport.received?.code == .internalError)
            try await two.send(#"{"id":1,"subscribe":"a"}"#)
            #expect(try await two.receive() == .text(#"{"id":1,"ok":true,"complete":true}"#))
        }
    }
}
