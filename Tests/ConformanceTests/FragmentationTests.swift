// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

/// RFC 6455 section 5.4, and RFC 7692 section 6, of endpoints that read and write messages in pieces.
@Suite struct FragmentationTests {
    /// Opens a connection to an endpoint that sends back each message in the pieces in which it comes.
    private static func open(
        _ endpoint: Endpoint,
        deflate: Bool = false,
        _ body: @escaping @Sendable (RawPeer) async throws -> Void
    ) async throws {
        switch endpoint {
        case .server:
            try await withServer { server in
                server.webSockets.pings = .disabled
                server.webSockets.compression = deflate ? .enabled : .disabled
                server.webSocket("/") { socket in try await sendBack(socket) }
            } _: { address in
                let peer = try await RawPeer.connect(to: address)
                let field = deflate ? "Sec-WebSocket-Extensions: permessage-deflate" : "X-None: 1"
                let response = try await peer.response(to: RawPeer.upgradeRequest("/", field))
                #expect(response.status == 101)
                try await body(peer)
                await peer.close()
            }
        case .client:
            var options = WebSocketOptions()
            options.pings = .disabled
            options.streamsMessages = true
            options.compression = deflate ? .enabled : .disabled
            try await withListener { [options] url, accept in
                async let connected = WebSocket.connect(to: url, options: options.patient)
                let peer = try await accept()
                let field = deflate ? "Sec-WebSocket-Extensions: permessage-deflate" : "X-None: 1"
                try await peer.acceptWebSocket(headers: field)
                let socket = try await connected
                let echo = Task { try await sendBack(socket) }
                try await body(peer)
                await peer.close()
                _ = await echo.result
            }
        }
    }

    private static func sendBack(_ socket: isolated WebSocket) async throws {
        for try await message in socket.streamedMessages {
            try await socket.send(message.kind) { writer in
                for try await piece in message { try await writer.write(piece) }
            }
        }
    }

    /// A message that came back, put together, and the frames that it came in.
    private static func message(_ peer: RawPeer) async throws -> (opcode: UInt8, bytes: [UInt8], frames: [RawFrame]) {
        var frames: [RawFrame] = []
        var bytes: [UInt8] = []
        repeat {
            let frame = try await peer.readFrame()
            if frame.opcode < 0x8 {
                frames.append(frame)
                bytes += frame.payload
            }
        } while frames.last?.isFinal != true
        return (frames[0].opcode, bytes, frames)
    }

    @Test("5.4 The first frame has the opcode, the others 0, and the last the FIN bit", arguments: Endpoint.allCases)
    func order(endpoint: Endpoint) async throws {
        try await Self.open(endpoint) { peer in
            try await peer.send(.text("one, ", isFinal: false))
            let first = try await peer.readFrame()
            #expect(first.opcode == 0x1 && !first.isFinal && first.text == "one, ")
            try await peer.send(.ping([1]))
            #expect(try await peer.readFrame().opcode == 0xA)
            try await peer.send(.continuation([], isFinal: false), .continuation(Array("two".utf8)))
            let second = try await peer.readFrame()
            #expect(second.opcode == 0x0 && second.text == "two")
            let last = second.isFinal ? second : try await peer.readFrame()
            #expect(last.opcode == 0x0 && last.isFinal)
            try await peer.send(.binary([]), .binary([7]))
            let empty = try await Self.message(peer)
            let next = try await Self.message(peer)
            #expect(empty.opcode == 0x2 && empty.bytes == [])
            #expect(next.opcode == 0x2 && next.bytes == [7])
        }
    }

    @Test("5.4 A message within a message, and a continuation of nothing, fail with 1002", arguments: Endpoint.allCases)
    func wrongOrder(endpoint: Endpoint) async throws {
        for frames in [[.text("a", isFinal: false), .text("b")], [.continuation([1])]] as [[RawFrame]] {
            try await Self.open(endpoint) { peer in
                try await peer.send(frames)
                try await peer.expectFailure(1_002)
            }
        }
    }

    @Test("5.6, 8.1 A text that isn't UTF-8 fails with 1007, wherever in it that shows", arguments: Endpoint.allCases)
    func text(endpoint: Endpoint) async throws {
        let wrong: [[RawFrame]] = [
            [.text("ä", isFinal: false), .continuation([0xFF], isFinal: false)],
            [.text("a", isFinal: false), .continuation([0xC3])],
            [RawFrame(0x1, [0xED, 0xA0])],
        ]
        for frames in wrong {
            try await Self.open(endpoint) { peer in
                try await peer.send(frames)
                try await peer.expectFailure(1_007)
            }
        }
        try await Self.open(endpoint) { peer in
            let bytes = Array("𐍈€ä".utf8)
            try await peer.send([RawFrame(0x1, [bytes[0]], isFinal: false)])
            try await peer.send(bytes.dropFirst().map { .continuation([$0], isFinal: false) } + [.continuation([])])
            #expect(try await Self.message(peer).bytes == bytes)
        }
    }

    @Test("RFC 7692 6.1 Only the first fragment has RSV1, in both directions", arguments: Endpoint.allCases)
    func compressed(endpoint: Endpoint) async throws {
        try await Self.open(endpoint, deflate: true) { peer in
            let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
            for _ in 0..<2 {
                try await peer.send(
                    RawFrame(0x1, Array(hello.prefix(3)), isFinal: false, reservedBits: 0x40),
                    .continuation(Array(hello.dropFirst(3)))
                )
                let message = try await Self.message(peer)
                #expect(message.frames.first?.reservedBits == 0x40)
                #expect(message.frames.dropFirst().allSatisfy { $0.reservedBits == 0 })
            }
            try await peer.send(RawFrame(0x1, hello, isFinal: false, reservedBits: 0x40))
            try await peer.send(RawFrame(0x0, [0], reservedBits: 0x40))
            #expect(try await peer.readFrame { $0.opcode == 0x8 }.closeCode == 1_002)
        }
    }
}
