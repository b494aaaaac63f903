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
