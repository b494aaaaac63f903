// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("Recording the frames of connections that are watched", .timeLimit(minutes: 1))
struct FrameRecorderTests {
    private static func run(_ body: (InspectorFixture, WebSocket) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        server.webSocket("/echo") { socket in
            for try await message in socket.messages { try await socket.send(message) }
        }
        try await InspectorFixture.run(InspectorOptions(), server) { fixture async throws in
            try await body(fixture, try await fixture.client.webSocket("/echo"))
        }
    }

    @Test("A connection is looked at from the first viewer to the last, in the middle of its life, and never before")
    func viewers() async throws {
        try await Self.run { _, socket async throws in
            let recorder = FrameRecorder(grace: .zero)
            let id = "\(socket.id)"
            try await Self.talk("unseen", socket)
            #expect(recorder.ring(of: id) == nil)
            var first: FrameWatch? = await recorder.watch(socket, ConnectionFacts(socket))
            var second: FrameWatch? = await recorder.watch(socket, ConnectionFacts(socket))
            try await Self.talk("seen", socket)
            first = nil
            #expect(recorder.isLooking(at: id))
            try await Self.talk("seen", socket)
            let ring = try #require(second?.ring)
            second = nil
            // It ends behind a task of its own.
            while recorder.isLooking(at: id) { await Task.yield() }
            try await Self.talk("unseen", socket)
            let texts = ring.all.map { String(decoding: $0.payload.bytes, as: UTF8.self) }
            #expect(texts == ["seen", "seen", "seen", "seen"] && first == nil)
            // What was recorded stays, and goes on with the next viewer.
            let third = await recorder.watch(socket, ConnectionFacts(socket))
            #expect(third.ring === ring)
            try await Self.talk("again", socket)
            #expect(ring.all.count == 6)
        }
    }

    @Test("A page that is loaded again within the grace misses nothing")
    func grace() async throws {
        try await Self.run { _, socket async throws in
            let recorder = FrameRecorder(grace: .seconds(3_600))
            var watch: FrameWatch? = await recorder.watch(socket, ConnectionFacts(socket))
            let ring = try #require(watch?.ring)
            watch = nil
            try await Self.talk("between", socket)
            watch = await recorder.watch(socket, ConnectionFacts(socket))
            #expect(ring.all.count == 2 && watch?.ring === ring)
        }
    }

    @Test("Of many connections that were watched the recordings of the last are kept")
    func bound() async throws {
        try await Self.run { fixture, socket async throws in
            let recorder = FrameRecorder(grace: .zero)
            for _ in 0..<FrameRecorder.connectionLimit {
                let other = try await fixture.client.webSocket("/echo")
                _ = await recorder.watch(other, ConnectionFacts(other))
                while recorder.isLooking(at: "\(other.id)") { await Task.yield() }
            }
            _ = await recorder.watch(socket, ConnectionFacts(socket))
            let last = "\(socket.id)"
            #expect(recorder.ring(of: last) != nil && recorder.count == FrameRecorder.connectionLimit)
        }
    }

    private static func talk(_ text: String, _ socket: WebSocket) async throws {
        try await socket.send(text)
        #expect(try await socket.receive() == .text(text))
    }
}

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
        server.webSockets.compression = .enabled
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
