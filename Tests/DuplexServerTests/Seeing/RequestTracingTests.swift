// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import HTTPTypes
import InMemoryTracing
import Testing
import Tracing

@Suite("The spans of requests")
struct RequestTracingTests {
    private struct Failure: Error {}

    private static func text(_ attributes: SpanAttributes, _ name: String) -> String? {
        guard case .string(let text)? = attributes.get(name) else { return nil }
        return text
    }

    private static func number(_ attributes: SpanAttributes, _ name: String) -> Int? {
        switch attributes.get(name) {
        case .int64(let number): Int(number)
        case .int32(let number): Int(number)
        default: nil
        }
    }

    private func span(
        _ method: HTTPRequest.Method = .get,
        _ path: String,
        headers: HTTPFields = [:]
    ) async throws -> (TestResponse?, FinishedInMemorySpan) {
        let tracer = InMemoryTracer()
        var server = WebServer(port: 0)
        server.logger.logLevel = .critical
        server.tracer = tracer
        @Sendable func context() -> String { InstrumentationContext.current?.inMemorySpanContext?.spanID ?? "none" }
        server.get("/now/:id") { _ in context() }
        server.get("/later") { _ async in context() }
        server.get("/pieces") { _ in
            let outer = context()
            return Response { writer in try await writer.write("\(outer) \(context())") }
        }
        server.get("/failing") { _ -> String in throw Failure() }
        let answer = try await server.test { client async throws in
            try await client.request(method, path, headers: headers)
        }
        #expect(tracer.activeSpans.isEmpty && tracer.finishedSpans.count == 1)
        return (answer, try #require(tracer.finishedSpans.first))
    }

    @Test(
        "The handler, and what writes the body, run in the context of the span, which is named by the route",
        arguments: [("/now/7?token=sesame", "GET /now/:id"), ("/later", "GET /later"), ("/pieces", "GET /pieces")]
    )
    func handlers(path: String, name: String) async throws {
        let (answer, span) = try await span(.get, path, headers: [.userAgent: "tests"])
        let ids = try #require(answer).text.split(separator: " ")
        #expect(!ids.isEmpty && ids.allSatisfy { $0 == span.spanID })
        #expect(span.operationName == name && span.kind == .server && span.parentSpanID == nil)
        let attributes = span.attributes
        #expect(Self.text(attributes, "http.request.method") == "GET" && Self.text(attributes, "url.scheme") == "http")
        #expect(Self.text(attributes, "http.route").map { "GET " + $0 } == name)
        #expect(Self.text(attributes, "url.path").map { path.hasPrefix($0) } == true)
        #expect(Self.text(attributes, "server.address") == "localhost")
        #expect(Self.text(attributes, "network.peer.address") == "127.0.0.1")
        #expect(Self.text(attributes, "network.protocol.version") == "1.1")
        #expect(Self.text(attributes, "user_agent.original") == "tests")
        #expect(Self.number(attributes, "http.response.status_code") == 200)
        #expect(Self.number(attributes, "http.response.body.size") == answer?.body.count)
        #expect(span.errors.isEmpty && span.status == nil && !"\(attributes)".contains("sesame"))
    }

    @Test("It is below the client's")
    func parent() async throws {
        let headers = try [InMemoryTracer.traceIDKey: "t1", InMemoryTracer.spanIDKey: "s1"].map { name, value in
            HTTPField(name: try #require(HTTPField.Name(name)), value: value)
        }
        let (_, span) = try await span(.get, "/later", headers: HTTPFields(headers))
        #expect(span.traceID == "t1" && span.parentSpanID == "s1")
    }

    @Test("What the handler fails with is recorded; what a client does wrong is no error")
    func errors() async throws {
        let failed = try await span(.get, "/failing").1
        #expect(failed.errors.count == 1 && failed.status?.code == .error)
        #expect(Self.number(failed.attributes, "http.response.status_code") == 500)
        #expect(Self.text(failed.attributes, "error.type") == "Failure")
        let missing = try await span(.get, "/nothing").1
        #expect(missing.operationName == "GET" && missing.status == nil && missing.errors.isEmpty)
        #expect(Self.text(missing.attributes, "http.route") == nil)
        let method = try #require(HTTPRequest.Method(rawValue: "BREW"))
        let unknown = try await span(method, "/now/1").1
        #expect(unknown.operationName == "HTTP" && Self.text(unknown.attributes, "http.request.method") == "_OTHER")
        #expect(Self.text(unknown.attributes, "http.request.method_original") == "BREW")
    }
}

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
            try await server.test { client async throws in
                #expect(try await client.get("/").text == (tracer == nil ? "none" : "one"))
            }
        }
        #expect(tracer.finishedSpans.map { $0.events.map(\.name) } == [["handled"]])
    }
}
