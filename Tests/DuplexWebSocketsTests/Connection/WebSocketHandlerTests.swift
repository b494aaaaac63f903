// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Synchronization
import Testing

@Suite struct WebSocketHandlerTests {
    /// Keeps what it is told, and answers texts.
    private final class Recorder: WebSocketHandler {
        private let lines = Mutex<[String]>([])
        let ended: AsyncStream<CloseReport>
        private let end: AsyncStream<CloseReport>.Continuation
        let greeting: String?

        init(greeting: String? = nil) {
            self.greeting = greeting
            (ended, end) = AsyncStream<CloseReport>.makeStream()
        }

        var events: [String] { lines.withLock { $0 } }

        private func note(_ line: String) {
            lines.withLock { $0.append(line) }
        }

        func opened(_ socket: isolated WebSocket) {
            note("opened \(socket.state)")
            if let greeting { socket.enqueue(greeting.utf8Span.span.raw, .text) }
        }

        func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
            note("\(kind) \(String(decoding: [UInt8](copying: bytes), as: UTF8.self))")
            if kind == .text { socket.enqueue(bytes, kind) }
        }

        func becameWritable(_ socket: isolated WebSocket) {
            note("writable")
        }

        func closed(_ socket: isolated WebSocket, _ report: CloseReport) {
            note("closed \(report.code.rawValue)")
            end.yield(report)
        }
    }

    /// Answers each message with a mebibyte, and counts.
    private final class Amplifier: WebSocketHandler {
        private let counts = Mutex((received: 0, drains: 0))

        var received: Int { counts.withLock { $0.received } }
        var drains: Int { counts.withLock { $0.drains } }

        func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
            counts.withLock { $0.received += 1 }
            let answer = [UInt8](repeating: 9, count: 1 << 20)
            socket.enqueue(answer.span.raw, .binary)
        }

        func becameWritable(_ socket: isolated WebSocket) {
            counts.withLock { $0.drains += 1 }
        }
    }

    @Test("A client's handler is told of the opening first, of each message in order, and of the end once")
    func client() async throws {
        let recorder = Recorder(greeting: "hello")
        try await withClient(handler: recorder, followedBy: [.text("with the 101")]) { socket, peer in
            #expect(try await peer.readFrame().text == "hello")
            #expect(try await peer.readFrame().text == "with the 101")
            try await peer.send(
                .binary([0x62]),
                .text("in ", isFinal: false),
                .continuation(Array("pieces".utf8)),
                .close(4_000)
            )
            #expect(try await peer.readFrame().text == "in pieces")
            #expect(try await peer.readFrame().closeCode == 4_000)
            await peer.close()
            for await report in recorder.ended {
                #expect(report.code.rawValue == 4_000)
                break
            }
            #expect(
                recorder.events == ["opened open", "text with the 101", "binary b", "text in pieces", "closed 4000"]
            )
            #expect(await socket.close().isClean)
            #expect(recorder.events.count == 5)
        }
    }

    @Test("A server's handler serves all connections of its path", arguments: [0, 1, 125, 126, 65_536, 1 << 20])
    func server(size: Int) async throws {
        let recorder = Recorder()
        try await withServer { server in
            server.webSocket("/", handler: recorder)
        } _: { address in
            for _ in 0..<2 {
                let client = try await WebSocket.connect(to: "ws://\(address)/")
                let text = String(repeating: "x", count: size)
                try await client.send(text)
                #expect(try await client.receive() == .text(text))
                #expect(await client.close().isClean)
            }
        }
        #expect(recorder.events.filter { $0 == "opened open" }.count == 2)
        #expect(recorder.events.filter { $0 == "closed 1000" }.count == 2)
    }

    @Test("Answers to messages before a violation go out, then the close frame does")
    func violation() async throws {
        let recorder = Recorder()
        try await withServer { server in
            server.webSocket("/", handler: recorder)
        } _: { address in
            let peer = try await RawPeer.openWebSocket(to: address)
            try await peer.send(.text("a"), .text("b"), RawFrame(0x1, [0xC0]), .text("c"))
            #expect(try await peer.readFrame().text == "a")
            #expect(try await peer.readFrame().text == "b")
            #expect(try await peer.readFrame().closeCode == 1_007)
            #expect(try await peer.isAtEnd())
        }
        #expect(recorder.events == ["opened open", "text a", "text b", "closed 1006"])
    }

    @Test("A peer that takes no answers isn't listened to until it does", .timeLimit(minutes: 1))
    func backpressure() async throws {
        let amplifier = Amplifier()
        try await withServer { server in
            server.webSocket("/", handler: amplifier)
        } _: { address in
            let peer = try await RawPeer.openWebSocket(to: address)
            let requests = 60
            // Each in a turn of its own, so that the handler may be held back between any two of them.
            for _ in 0..<requests { try await peer.send(.text("more")) }
            for _ in 0..<requests {
                let frame = try await peer.readFrame()
                #expect(frame.payload.count == 1 << 20)
            }
            #expect(amplifier.received == requests)
            // The peer may have the last byte before the handler is told that it is out.
            while amplifier.drains == 0 { await Task.yield() }
        }
    }
}
