// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexWebSockets

/// An attempt, as it is told while it happens.
@Suite(.timeLimit(minutes: 1)) struct HandshakeStagesTests {
    private let recorder = StageRecorder()

    private var options: WebSocketOptions {
        var options = WebSocketOptions()
        options.onStage = { [recorder] in recorder.tell($0) }
        return options
    }

    @Test("A redirect is the end of one request and the beginning of another, which have their numbers")
    func redirected() async throws {
        try await withListener { url, accept in
            var options = options
            options.redirects = 1
            let attempt = Task { [options] in try await WebSocket.connect(to: url, options: options) }
            let first = try await accept()
            _ = try await first.readHead()
            try await first.send("HTTP/1.1 302 Found\r\nLocation: \(url)next\r\nContent-Length: 0\r\n\r\n")
            let second = try await accept()
            try await second.acceptWebSocket()
            let socket = try await attempt.value
            let connecting = ["connecting began", "connecting ended", "upgrade began"]
            #expect(recorder.words == connecting + ["upgrade failed"] + connecting + ["upgrade ended"])
            #expect(recorder.events.map(\.request) == [1, 1, 1, 1, 2, 2, 2, 2])
            let urls = Array(repeating: url, count: 4) + Array(repeating: url + "next", count: 4)
            #expect(recorder.events.map(\.url) == urls)
            #expect(recorder.events.allSatisfy { $0.address == socket.remoteAddress && $0.attempt == 1 })
            let refusal = try #require(recorder.error(.upgrade) as? WebSocketError)
            #expect(refusal.status?.code == 302)
            await first.reset()
            await second.reset()
        }
    }

    /// A connection in memory to nobody.
    private var dialling: WebSocketOptions {
        var options = options
        options.connectOptions.dial = { loop, core throws(SocketError) in MemoryLink().channel(.near, on: loop, core) }
        return options
    }

    @Test("A request whose turn comes after the deadline has timed out, and begins no stage")
    func late() async throws {
        try await TestLoop.run { test in
            let options = dialling
            let attempts = HandshakeAttempts(loop: test.group.next(), options: options, handler: nil)
            await test.advance(by: .seconds(10))
            await expect(.timedOut) {
                _ = try await attempts.run(HandshakePlan(try WebSocketURL("ws://localhost/"), options))
            }
            #expect(recorder.words == [])
        }
    }

    @Test("A server that says nothing fails its stage when the time is over, and not before")
    func silent() async throws {
        try await TestLoop.run { test in
            let options = dialling
            let attempt = await test.begin {
                try await WebSocket.connect(to: "ws://localhost/", options: options, on: test.group)
            }
            await test.advance(by: .seconds(10) - .nanoseconds(1))
            #expect(recorder.words == ["upgrade began"])
            await test.advance(by: .nanoseconds(1))
            await expect(.timedOut) { try await attempt.value }
            #expect(recorder.words == ["upgrade began", "upgrade failed"])
            #expect((recorder.error(.upgrade) as? WebSocketError)?.code == .timedOut)
            let instants = recorder.events.map(\.instant)
            #expect(instants.count == 2 && instants[0].duration(to: instants[1]) == .seconds(10))
        }
    }

    @Test("Whoever cancels gives the stage up")
    func cancelled() async throws {
        try await TestLoop.run { test in
            let options = dialling
            let attempt = await test.begin {
                try await WebSocket.connect(to: "ws://localhost/", options: options, on: test.group)
            }
            await test.settle()
            attempt.cancel()
            await #expect(throws: CancellationError.self) { try await attempt.value }
            #expect(recorder.words == ["upgrade began", "upgrade abandoned"])
        }
    }

    @Test("An answer that isn't a WebSocket fails the stage with what the call throws")
    func refused() async throws {
        try await withListener { url, accept in
            let attempt = Task { [options] in try await WebSocket.connect(to: url, options: options) }
            let peer = try await accept()
            _ = try await peer.readHead()
            try await peer.send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
            await expect(.handshakeRefused) { try await attempt.value }
            #expect(recorder.words == ["connecting began", "connecting ended", "upgrade began", "upgrade failed"])
            #expect((recorder.error(.upgrade) as? WebSocketError)?.status?.code == 403)
            await peer.reset()
        }
    }
}
