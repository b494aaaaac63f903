// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexWebSockets
import DuplexWire
import InMemoryTracing
import Testing
import Tracing

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
