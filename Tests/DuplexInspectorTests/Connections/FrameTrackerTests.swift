// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("Frames as they are recorded", .timeLimit(minutes: 1))
struct FrameTrackerTests {
    @Test("A compressed message is recorded with what it says, both ways, and others as they are")
    func compressed() async throws {
        var options = WebSocketOptions()
        options.compression = .required
        try await recorded(options) { socket, ring in
            let long = String(repeating: "compressible ", count: 100)
            try await socket.send(long)
            #expect(try await socket.receive() == .text(long))
            _ = try await socket.ping(timeout: .limit(seconds: 20))
            let frames = ring.all
            #expect(frames.map(\.isOutgoing) == [true, false, true, false])
            #expect(frames.map(\.opcode) == [.text, .text, .ping, .pong])
            for frame in frames.prefix(2) {
                #expect(frame.isCompressed && frame.payload.bytes == Array(long.utf8) && !frame.payload.isCut)
                #expect(frame.wireLength < 200)
            }
            #expect(!frames[2].isCompressed && frames[2].payload.bytes == frames[3].payload.bytes)
            #expect(frames.map(\.number) == [0, 1, 2, 3])
        }
    }

    @Test("Of a long message that is compressed the beginning is kept, and how long it is")
    func longCompressed() async throws {
        var options = WebSocketOptions()
        options.compression = .required
        try await recorded(options) { socket, ring in
            let text = String(repeating: "compressible ", count: 10_000)
            try await socket.send(text)
            #expect(try await socket.receive() == .text(text))
            let frames = ring.all
            #expect(frames.count == 2 && frames.allSatisfy { $0.payload.isCut && $0.payload.size == 130_000 })
            #expect(frames.allSatisfy { $0.payload.bytes == Array(text.utf8.prefix(FrameRecorder.payloadLimit)) })
        }
    }

    @Test("A compressed message that is written in pieces is known to be as on the wire")
    func pieces() async throws {
        var options = WebSocketOptions()
        options.compression = .required
        try await recorded(options) { socket, ring in
            let (pieces, maker) = AsyncStream<[UInt8]>.makeStream()
            for _ in 0..<3 { maker.yield(Array(String(repeating: "compressible ", count: 2_000).utf8)) }
            maker.finish()
            try await socket.send(pieces: pieces, as: .text)
            let text = String(repeating: "compressible ", count: 6_000)
            #expect(try await socket.receive() == .text(text))
            let (sent, received) = (ring.all.filter(\.isOutgoing), ring.all.filter { !$0.isOutgoing })
            #expect(!sent.isEmpty && sent.allSatisfy { $0.isCompressed && $0.payload.isCoded })
            #expect(received.count == 1 && received.allSatisfy { $0.isCompressed && !$0.payload.isCoded })
        }
    }

    @Test("Of a long payload the beginning is kept, and lengths are those of the wire")
    func long() async throws {
        var options = WebSocketOptions()
        options.compression = .disabled
        try await recorded(options) { socket, ring in
            let bytes = [UInt8](repeating: 7, count: FrameRecorder.payloadLimit + 1)
            try await socket.send(bytes)
            #expect(try await socket.receive() == .binary(bytes))
            let frames = ring.all
            #expect(frames.count == 2 && frames.allSatisfy { $0.payload.isCut && $0.payload.size == 65_537 })
            #expect(frames.allSatisfy { $0.payload.bytes.count == 65_536 })
            // Ten bytes of header with a length of eight, and the client's four of the mask.
            #expect(frames.map(\.wireLength) == [65_551, 65_547])
        }
    }

    /// A client's connection to an echo, whose frames are recorded.
    private func recorded(
        _ options: WebSocketOptions,
        _ body: (WebSocket, LiveRing<RecordedFrame>) async throws -> Void
    ) async throws {
        var server = WebServer(port: 0)
        server.compression = .offered
        server.webSocket("/echo") { socket in
            for try await message in socket.messages { try await socket.send(message) }
        }
        try await InspectorFixture.run(InspectorOptions(), server) { fixture async throws in
            let socket = try await fixture.client.webSocket("/echo", options: options)
            let watch = await FrameRecorder(grace: .zero).watch(socket, ConnectionFacts(socket))
            try await body(socket, watch.ring)
        }
    }
}
