// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import InMemoryTracing
import Testing
import Tracing

@Suite struct RequestSpanTests {
    @Test("A handler finds its span with the request, and none where there is no tracer")
    func handler() async throws {
        let tracer = InMemoryTracer()
        for tracer in [tracer, nil] {
            var server = WebServer(port: 0)
            server.tracer = tracer
            server.get("/") { request in
                request[RequestSpan.self]?.addEvent("handled")
                return request[RequestSpan.self] == nil ? "none" : "one"
            }
            try await WebServer.testing(server) { client async throws in
                #expect(try await client.get("/").text == (tracer == nil ? "none" : "one"))
            }
        }
        #expect(tracer.finishedSpans.map { $0.events.map(\.name) } == [["handled"]])
    }
}
