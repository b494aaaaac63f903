// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexWire
import HTTPTypes
import InMemoryTracing
import Testing
import Tracing

@testable import DuplexWebSockets

@Suite("The spans of connections")
struct ConnectionSpanTests {
    @Test("Client and server have one each in the same trace, and handlers run in the server's")
    func bothSides() async throws {
        let tracer = InMemoryTracer()
        try await withServer { server in
            server.tracer = tracer
            server.webSocket("/chat") { socket in
                let context = InstrumentationContext.current ?? .topLevel
                for try await message in socket.messages {
                    let inner = tracer.startSpan("handling", context: context)
                    try await socket.send(message)
                    inner.end()
                }
            }
        } _: { address in
            var options = WebSocketOptions()
            options.tracer = tracer
            let socket = try await WebSocket.connect(to: "ws://\(address)/chat", options: options)
            try await socket.send("hello")
            _ = try await socket.receive()
            #expect(tracer.activeSpans.count { $0.operationName == "WebSocket" } == 2)
            await socket.close()
        }
        let spans = tracer.finishedSpans
        let names = spans.map(\.operationName)
        #expect(names.count { $0 == "WebSocket" } == 2 && names.count { $0 == "WebSocket handshake" } == 2)
        #expect(Set(spans.map(\.traceID)).count == 2, "the client's connection is beside its handshake, at the top")
        #expect(tracer.activeSpans.isEmpty)
        let (server, client) = (
            try #require(spans.first { $0.operationName == "WebSocket" && $0.kind == .server }),
            try #require(spans.first { $0.operationName == "WebSocket" && $0.kind == .client })
        )
        let handshake = try #require(spans.first { $0.operationName == "WebSocket handshake" && $0.kind == .client })
        #expect(server.parentSpanID == handshake.spanID && server.links.count == 1 && client.links.count == 1)
        let handling = try #require(spans.first { $0.operationName == "handling" })
        #expect(handling.parentSpanID == server.spanID)
        for span in [server, client] {
            #expect(span.attributes.get("websocket.close.code") == .int64(1_000))
            #expect(span.attributes.get("websocket.messages.received") == .int64(1))
            #expect(span.attributes.get("websocket.bytes.sent") == .int64(5))
            #expect(span.attributes.get("websocket.connection.id") != nil)
            #expect(span.errors.isEmpty && span.status == nil)
        }
        #expect(server.attributes.get("url.path") == .string("/chat"))
        #expect(client.attributes.get("websocket.close.initiator") == .string("local"))
    }

    @Test("What breaks a rule is recorded, and a connection that is dropped ends its span")
    func faults() async throws {
        let tracer = InMemoryTracer()
        var options = WebSocketOptions()
        options.tracer = tracer
        try await withClient(options: options) { socket, peer in
            try await peer.send(RawFrame(0x3))
            _ = try? await socket.receive()
            await peer.reset()
            await socket.close()
        }
        let span = try #require(tracer.finishedSpans.last)
        #expect(span.operationName == "WebSocket" && span.errors.count == 1 && span.status?.code == .error)
        tracer.clearFinishedSpans()
        try await withIncoming { [options] url, accept in
            let dropping = Task { try await Self.drop(url, options) }
            // Kept until then: dropped behind its answer it might reset the connection, and take the answer along.
            let peer = try await accept()
            try await peer.acceptWebSocket()
            try await dropping.value
            await peer.close()
        }
        // The loop may be the last to hold it.
        _ = await comesTrue { tracer.finishedSpans.count == 2 }
        #expect(tracer.finishedSpans.map(\.operationName) == ["WebSocket handshake", "WebSocket"])
        #expect(tracer.activeSpans.isEmpty)
    }

    private static func drop(_ url: String, _ options: WebSocketOptions) async throws {
        _ = try await WebSocket.connect(to: url, options: options)
    }
}

@Suite("The spans of handshakes")
struct HandshakeSpanTests {
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

    @Test("A client's is below the caller's, is told to the server by fields, and tells no secret")
    func client() async throws {
        let tracer = InMemoryTracer()
        try await withIncoming { url, accept in
            var options = WebSocketOptions()
            options.tracer = tracer
            let secret = url.replacing("ws://", with: "ws://user:sesame@") + "path?token=sesame"
            let caller = tracer.startSpan("caller", context: .topLevel)
            let attempt = Task { [options] in
                try await InstrumentationContext.withValue(caller.context) {
                    try await WebSocket.connect(to: secret, options: options)
                }
            }
            let peer = try await accept()
            let head = try await peer.acceptWebSocket()
            let socket = try await attempt.value
            let span = try #require(tracer.finishedSpans.first)
            #expect(tracer.finishedSpans.count == 1)
            #expect(span.operationName == "WebSocket handshake" && span.kind == .client)
            #expect(span.parentSpanID == caller.spanID && span.traceID == caller.traceID)
            #expect(head.contains("\(InMemoryTracer.traceIDKey): \(span.traceID)\r\n"))
            #expect(head.contains("\(InMemoryTracer.spanIDKey): \(span.spanID)\r\n"))
            let attributes = span.attributes
            #expect(Self.text(attributes, "url.full") == url + "path")
            #expect(Self.text(attributes, "server.address") == "127.0.0.1")
            #expect(Self.number(attributes, "server.port") == socket.remoteAddress?.port)
            #expect(Self.text(attributes, "network.peer.address") == "127.0.0.1")
            #expect(Self.number(attributes, "http.response.status_code") == 101)
            #expect(span.errors.isEmpty && span.status == nil)
            #expect(!"\(attributes)".contains("sesame"))
            await peer.reset()
            await socket.close()
            // A span that isn't ended is kept by its tracer, which it keeps.
            caller.end()
            #expect(tracer.activeSpans.isEmpty)
        }
    }

    @Test("A refusal is an error of the client's, with its status")
    func refused() async throws {
        let tracer = InMemoryTracer()
        try await withServer { server in
            server.tracer = tracer
            server.webSocket("/") { _ in
                Admission.refused(.forbidden, "Not you.")
            } handler: { _, _ in
            }
        } _: { address in
            var options = WebSocketOptions()
            options.tracer = tracer
            let error = await failure(of: "ws://\(address)/", options)
            #expect(error?.status == .forbidden)
            let spans = tracer.finishedSpans
            #expect(spans.map(\.kind) == [.server, .client])
            #expect(spans.allSatisfy { Self.number($0.attributes, "http.response.status_code") == 403 })
            #expect(spans[0].parentSpanID == spans[1].spanID && spans[0].status == nil)
            #expect(spans.allSatisfy { Self.text($0.attributes, "server.address") == "127.0.0.1" })
            #expect(spans.allSatisfy { Self.number($0.attributes, "server.port") == address.port })
            #expect(spans[1].errors.count == 1 && spans[1].status?.code == .error)
            #expect(Self.text(spans[1].attributes, "error.type") == "handshakeRefused")
            #expect(tracer.activeSpans.isEmpty)
        }
    }

    @Test("A handshake that was cancelled ends its span")
    func cancelled() async throws {
        let tracer = InMemoryTracer()
        try await withIncoming { url, accept in
            var options = WebSocketOptions()
            options.tracer = tracer
            let attempt = Task { [options] in try await WebSocket.connect(to: url, options: options) }
            let peer = try await accept()
            _ = try await peer.readHead()
            attempt.cancel()
            await #expect(throws: CancellationError.self) { try await attempt.value }
            #expect(tracer.activeSpans.isEmpty && tracer.finishedSpans.first?.errors.count == 1)
            await peer.reset()
        }
    }

    @Test("Without a tracer no field is added, and one of the caller's own stays")
    func headers() throws {
        var headers: HTTPFields = [.origin: "a"]
        let injector = FieldInjector()
        injector.inject("b", forKey: "origin", into: &headers)
        injector.inject("00-1-2-01", forKey: "traceparent", into: &headers)
        injector.inject("x", forKey: "not a name", into: &headers)
        #expect(headers.count == 2 && headers[.origin] == "a")
        #expect(FieldExtractor().extract(key: "traceparent", from: headers) == "00-1-2-01")
        #expect(FieldExtractor().extract(key: "tracestate", from: headers) == nil)
        #expect(WebSocketOptions().tracer == nil && WebServer(port: 0).tracer == nil)
    }
}

@Suite struct FieldExtractorTests {
    @Test("It finds a field by its name in any case, and nothing by what is no name")
    func extract() {
        let headers: HTTPFields = [.userAgent: "tests"]
        #expect(FieldExtractor().extract(key: "user-agent", from: headers) == "tests")
        #expect(FieldExtractor().extract(key: "traceparent", from: headers) == nil)
        #expect(FieldExtractor().extract(key: "user agent", from: headers) == nil)
    }
}
