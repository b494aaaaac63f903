// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

/// Peers that send too much, or too slowly: what each side of ours does about them.
///
/// What a server's memory does meanwhile is seen from another process, by the tests with the built command.
@Suite("Floods and slow peers", .timeLimit(minutes: 5)) struct FloodTests {
    @Test(
        "20,000 pings are answered by pongs, the last of them by its own, and the connection goes on",
        arguments: Endpoint.allCases
    )
    func pings(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            let count = 20_000
            for start in stride(from: 0, to: count, by: 2_000) {
                try await peer.send((start..<(start + 2_000)).map { .ping(Array("\($0)".utf8)) })
            }
            // When an earlier pong waits, the later one takes its place (RFC 6455 section 5.5.3).
            let last = try await peer.readFrame { $0.payload == Array("\(count - 1)".utf8) }
            #expect(last.opcode == 0xA)
            try await peer.expectEcho()
        }
    }

    @Test("20,000 messages of one byte come back, in order", arguments: Endpoint.allCases)
    func tinyMessages(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            for _ in 0..<20 {
                let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
                try await peer.send(bytes.map { .binary([$0]) })
                for byte in bytes { #expect(try await peer.readFrame().payload == [byte]) }
            }
        }
    }

    @Test("A flood of close frames is answered by one", arguments: Endpoint.allCases)
    func closes(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            let frames = (0..<1_000).map { RawFrame.close(4_000, "\($0)") }
            try await peer.send(frames)
            #expect(try await peer.readFrame().closeCode == 4_000)
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("Empty fragments without end, with pings between them, fail with 1008", arguments: Endpoint.allCases)
    func emptyFragments(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            try await peer.send(.text("", isFinal: false))
            let frames = (0..<4_096).flatMap { _ in [RawFrame.continuation([], isFinal: false), .ping()] }
            try await peer.send(frames)
            let close = try await peer.readFrame { $0.opcode == 0x8 }
            #expect(close.closeCode == 1_008)
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("Text that isn't UTF-8 fails at once, however long its message says to be", arguments: Endpoint.allCases)
    func earlyFailure(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            let whole = peer.encoded(RawFrame(0x1, [0xC0] + [UInt8](repeating: 0x61, count: 1_000_000)))
            try await peer.send(Array(whole.prefix(40)))
            try await peer.expectFailure(1_007)
        }
    }

    @Test(
        "A bomb behind messages whose context it takes over fails with 1009",
        arguments: Endpoint.allCases
    )
    func bombWithContext(endpoint: Endpoint) async throws {
        let bomb = LessonsTests.deflated(zeros: 3_000_000)
        let limits = MessageLimits.internet.with(messageSize: .kibibytes(100))
        try await endpoint.openCompressed(limits: limits) { peer in
            // Zeros that are allowed, whose window the bomb then goes on with.
            let harmless = LessonsTests.deflated(zeros: 90_000)
            for _ in 0..<3 {
                try await peer.send(RawFrame(0x2, harmless, reservedBits: 0x40))
                #expect(try await peer.readFrame().opcode == 0x2)
            }
            try await peer.send(RawFrame(0x2, bomb, reservedBits: 0x40), failing: 1_009)
        }
    }

    /// How our side looks after its connections where a peer falls silent.
    private static let pings = PingPolicy.every(.milliseconds(20), timeout: .milliseconds(100))

    @Test(
        "A server ends a connection whose client falls silent within a frame, with 1011",
        arguments: [0, 1, 6, 1_000]
    )
    func silentClient(length: Int) async throws {
        try await withServer { server in
            server.webSockets.pings = Self.pings
            server.webSocket("/") { socket in for try await _ in socket.messages {} }
        } _: { address in
            let peer = try await RawPeer.openWebSocket(to: address)
            let frame = peer.encoded(.text(String(repeating: "x", count: 70_000)))
            try await peer.send(Array(frame.prefix(length)))
            let close = try await peer.readFrame { $0.opcode == 0x8 }
            #expect(close.closeCode == 1_011)
            await peer.close()
        }
    }

    @Test(
        "A client ends a connection whose server falls silent within a frame, with 1011",
        arguments: [0, 1, 6, 1_000]
    )
    func silentServer(length: Int) async throws {
        var options = WebSocketOptions()
        options.pings = Self.pings
        try await withClient(options: options) { socket, peer in
            let frame = peer.encoded(.text(String(repeating: "x", count: 70_000)))
            try await peer.send(Array(frame.prefix(length)))
            await #expect(throws: WebSocketError.self) { try await socket.receive() }
            let close = try await peer.readFrame { $0.opcode == 0x8 }
            #expect(close.closeCode == 1_011)
        }
    }

    @Test("A client that floods and never reads is ended like any other that is silent", arguments: [true, false])
    func floodingAndDeaf(isSynchronous: Bool) async throws {
        try await withServer { server in
            server.closeTimeout = .milliseconds(100)
            server.webSockets.pings = Self.pings
            if isSynchronous {
                server.webSocket("/", handler: Echo())
            } else {
                server.webSocket("/") { socket in
                    for try await message in socket.messages { try await socket.send(message) }
                }
            }
        } _: { address in
            let deaf = try await RawPeer.openWebSocket(to: address)
            let frame = deaf.encoded(.binary([UInt8](repeating: 0, count: 60_000)))
            let flood = Task { while true { try await deaf.send(frame) } }
            // It ends because the server ends the connection.
            await #expect(throws: SocketError.self) { try await flood.value }
            await deaf.reset()
        }
    }

    private struct Echo: WebSocketHandler {
        func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
            socket.enqueue(bytes, kind)
        }
    }

    @Test("A client that never reads stops being read, and being kept for, and others are served meanwhile")
    func neverReads() async throws {
        try await withServer { server in
            server.closeTimeout = .milliseconds(100)
            server.webSockets.pings = .disabled
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            let deaf = try await RawPeer.openWebSocket(to: address)
            let frame = deaf.encoded(.binary([UInt8](repeating: 0, count: 60_000)))
            // The system's buffers take a few mebibytes either way, and the inbox one.
            let flood = Task { for _ in 0..<2_000 { try await deaf.send(frame) } }
            let other = try await RawPeer.openWebSocket(to: address)
            for _ in 0..<100 { try await other.expectEcho() }
            // Nothing of what it sends gets through any more: the write that is under way waits.
            await deaf.reset()
            await #expect(throws: (any Error).self) { try await flood.value }
            try await other.expectEcho()
            await other.close()
        }
    }
}
