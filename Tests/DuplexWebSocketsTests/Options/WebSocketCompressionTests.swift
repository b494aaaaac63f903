// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Testing

@Suite("Compression over connections (RFC 7692)")
struct WebSocketCompressionTests {
    private static let text = String(repeating: "{\"price\":101.25,\"name\":\"duplex\"},", count: 40)

    private static let messages: [Message] = [
        .text(""), .text("Hello"), .text("Hello"), .binary([]), .binary([0]), .text(text), .text(text),
        .binary((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) }),
        .binary([UInt8](repeating: 0, count: 500_000)), .text(String(repeating: "ä€🎈", count: 5_000)), .text(text),
    ]

    private static func options(_ change: (inout CompressionParameters) -> Void = { _ in }) -> WebSocketOptions {
        var options = WebSocketOptions()
        options.compression = .parameters(parameters(change))
        return options
    }

    private static func parameters(_ change: (inout CompressionParameters) -> Void) -> CompressionParameters {
        var parameters = CompressionParameters()
        change(&parameters)
        return parameters
    }

    // MARK: What is agreed on

    @Test("A client offers and a server declines; windows have 12 bits, the level is 6")
    func defaults() {
        let options = WebSocketOptions()
        let server = WebServer(port: 0)
        #expect(options.compression == .enabled && server.webSockets.compression == .disabled)
        #expect(WebSocketCompression.disabled.parameters == nil && WebSocketCompression.required.isRequired)
        let parameters = CompressionParameters()
        #expect(parameters.serverWindowBits == 12 && parameters.clientWindowBits == 12)
        #expect(parameters.level == 6 && parameters.threshold == nil)
        #expect(parameters.serverContextTakeover && parameters.clientContextTakeover)
    }

    @Test("Both sides know what was agreed on")
    func agreement() async throws {
        try await withPair {
            $0.webSockets.compression = .enabled
        } _: { client, server in
            let agreement = await client.compression
            #expect(agreement?.clientMaxWindowBits == 12 && agreement?.serverMaxWindowBits == 12)
            #expect(await server.compression == agreement)
        }
    }

    @Test("Nothing is compressed where either side doesn't want it")
    func declined() async throws {
        var disabled = WebSocketOptions()
        disabled.compression = .disabled
        for (options, compression) in [(WebSocketOptions(), WebSocketCompression.disabled), (disabled, .enabled)] {
            try await withPair(options: options) {
                $0.webSockets.compression = compression
            } _: { client, server in
                #expect(await client.compression == nil)
                #expect(await server.compression == nil)
                #expect(await client.compressionCounts == nil)
                try await client.send(.text(Self.text), compress: true)
                #expect(try await server.receive() == .text(Self.text))
            }
        }
    }

    /// Why a connection can't be opened.
    private static func failure(to address: SocketAddress, _ options: WebSocketOptions) async -> WebSocketError? {
        do {
            await (try WebSocket.connect(to: "ws://\(address)/", options: options)).close()
            return nil
        } catch {
            return error as? WebSocketError
        }
    }

    @Test("A client that requires compression opens no connection without it")
    func requiredByClient() async throws {
        var options = WebSocketOptions()
        options.compression = .required
        try await withServer {
            $0.webSocket("/") { _ in }
        } _: { [options] address in
            let error = await Self.failure(to: address, options)
            #expect(error?.code == .handshakeRefused)
            #expect(error?.handshake?.code == .compressionDeclined)
        }
    }

    @Test("A server that requires compression refuses who doesn't offer it, and goes on")
    func requiredByServer() async throws {
        try await withServer { server in
            server.webSockets.compression = .required
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            var options = WebSocketOptions()
            options.compression = .disabled
            let error = await Self.failure(to: address, options)
            #expect(error?.handshake?.status == .badRequest)
            let echo = try await WebSocket.withConnection(to: "ws://\(address)/") { socket in
                try await socket.send(Self.text)
                return try await socket.receive()
            }
            #expect(echo == .text(Self.text))
        }
    }

    // MARK: Messages

    private static func exchange(_ client: CompressionParameters, _ server: CompressionParameters) async throws {
        var options = WebSocketOptions()
        options.compression = .parameters(client)
        try await withPair(options: options) {
            $0.webSockets.compression = .parameters(server)
        } _: { client, server in
            for message in messages {
                try await client.send(message)
                #expect(try await server.receive() == message)
                try await server.send(message)
                #expect(try await client.receive() == message)
            }
            let (sent, received) = (await client.compressionCounts, await server.compressionCounts)
            #expect(sent?.messagesDeflated == received?.messagesInflated)
            #expect(sent?.bytesDeflated == received?.bytesBeforeInflating)
            #expect(sent?.bytesBeforeDeflating == received?.bytesInflated)
            #expect((sent?.messagesDeflated ?? 0) > 4)
        }
    }

    @Test("Messages go both ways with every choice of context on either side", arguments: 0..<16)
    func contexts(bits: Int) async throws {
        try await Self.exchange(
            Self.parameters {
                $0.clientContextTakeover = bits & 1 != 0
                $0.serverContextTakeover = bits & 2 != 0
            },
            Self.parameters {
                $0.clientContextTakeover = bits & 4 != 0
                $0.serverContextTakeover = bits & 8 != 0
            }
        )
    }

    @Test("And with every window", arguments: 8...15)
    func windows(bits: Int) async throws {
        // A client can't deflate with 8, so that it asks for at least 9 of its own.
        try await Self.exchange(
            Self.parameters {
                $0.clientWindowBits = max(bits, 9)
                $0.serverWindowBits = 23 - bits
            },
            Self.parameters {
                $0.clientWindowBits = 15
                $0.serverWindowBits = bits
            }
        )
    }

    @Test("And with every level", arguments: [0, 1, 6, 8, 9])
    func levels(level: Int) async throws {
        let parameters = Self.parameters { $0.level = level }
        try await Self.exchange(parameters, parameters)
    }

    @Test("A client offers what browsers do, and takes the window that a server has that doesn't bound its own")
    func plainOffer() async throws {
        try await withListener { url, accept in
            async let connected = WebSocket.connect(to: url)
            let peer = try await accept()
            let request = try await peer.acceptWebSocket(headers: "Sec-WebSocket-Extensions: permessage-deflate")
            #expect(
                request.contains("\r\nSec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n")
            )
            let socket = try await connected
            #expect(await socket.compression?.serverMaxWindowBits == 15)
            var payload: [UInt8] = []
            // Its second half refers to its first, further back than a smaller window goes.
            let half = (0..<30_000).map { UInt8(truncatingIfNeeded: $0 * $0 >> 5) }
            let whole = half + half
            #expect(Deflater(.init(windowBits: 15, level: 9)).deflate(rawSpan(of: whole), into: &payload))
            try await peer.send(RawFrame(0x2, payload, reservedBits: 0x40))
            #expect(try await socket.receive() == .binary(whole))
            await peer.reset()
        }
    }

    @Test("A client that may use a window of 8 only deflates with that, and understands others")
    func windowOfEight() async throws {
        try await withListener { url, accept in
            async let connected = WebSocket.connect(to: url)
            let peer = try await accept()
            let field = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=8"
            try await peer.acceptWebSocket(headers: field)
            let socket = try await connected
            try await socket.send(Self.text)
            let frame = try await peer.readFrame()
            let payload = frame.payload
            let inflater = Inflater(windowBits: 8)
            var bytes: [UInt8] = []
            var position = 0
            _ = inflater.inflate(rawSpan(of: payload), from: &position, into: &bytes, upTo: 100_000)
            #expect(inflater.inflateEnd(into: &bytes, upTo: 1) == .inputTaken)
            #expect(frame.reservedBits == 0x40 && bytes == Array(Self.text.utf8))
            try await peer.send(RawFrame(0x1, [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00], reservedBits: 0x40))
            #expect(try await socket.receive() == "Hello")
            await peer.reset()
        }
    }

    @Test("The bit says which messages are compressed: those above the threshold, and those that the app chooses")
    func choices() async throws {
        let options = Self.options { $0.clientContextTakeover = false }
        try await withListener { [options] url, accept in
            async let connected = WebSocket.connect(to: url, options: options)
            let peer = try await accept()
            let request = try await peer.acceptWebSocket(
                headers: "Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover"
            )
            #expect(
                request.contains(
                    "\r\nSec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover; "
                        + "server_max_window_bits=12; client_max_window_bits=12, permessage-deflate; "
                        + "client_max_window_bits\r\n"
                )
            )
            let socket = try await connected
            let short = String(repeating: "a", count: 255)
            try await socket.send(short)
            try await socket.send(short + "a")
            try await socket.send(.text(short), compress: true)
            try await socket.send(.text(Self.text), compress: false)
            var bits: [UInt8] = []
            for _ in 0..<4 { bits.append(try await peer.readFrame().reservedBits) }
            #expect(bits == [0, 0x40, 0x40, 0])
            await peer.reset()
        }
    }

    @Test("A synchronous handler gets messages inflated, and its answers are compressed unless it says otherwise")
    func synchronousHandler() async throws {
        try await withServer { server in
            server.webSockets.compression = .enabled
            server.webSocket("/", handler: Twice())
        } _: { address in
            try await WebSocket.withConnection(to: "ws://\(address)/") { socket in
                try await socket.send(Self.text)
                #expect(try await socket.receive() == .text(Self.text))
                #expect(try await socket.receive() == .text(Self.text))
                #expect(socket.compressionCounts?.messagesDeflated == 1)
                #expect(socket.compressionCounts?.messagesInflated == 1)
            }
        }
    }

    private struct Twice: WebSocketHandler {
        func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
            socket.enqueue(bytes, kind)
            socket.enqueue(bytes, kind, compress: false)
        }
    }

    // MARK: Peers that send by hand

    /// A peer that has agreed on compression with an echo of ours.
    private static func withPeer(
        limits: MessageLimits = .internet,
        _ body: @escaping @Sendable (RawPeer, SocketAddress) async throws -> Void
    ) async throws {
        try await withServer { server in
            server.webSockets.compression = .enabled
            server.limits.messages = limits
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let field = "Sec-WebSocket-Extensions: permessage-deflate"
            let response = try await peer.response(to: RawPeer.upgradeRequest("/", field))
            #expect(response["Sec-WebSocket-Extensions"] == "permessage-deflate; server_max_window_bits=12")
            try await body(peer, address)
            await peer.reset()
        }
    }

    private static let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]

    @Test("A compressed message may come in fragments, byte by byte, with pings between them")
    func fragments() async throws {
        try await Self.withPeer { peer, _ in
            try await peer.send(
                RawFrame(0x1, Array(Self.hello.prefix(3)), isFinal: false, reservedBits: 0x40),
                .ping([1]),
                .continuation(Array(Self.hello.dropFirst(3)))
            )
            #expect(try await peer.readFrame() == .pong([1]))
            let echo = try await peer.readFrame()
            #expect(echo.reservedBits == 0x40 && echo.opcode == 0x1)
            try await peer.sendByteByByte(peer.encoded(RawFrame(0x1, Self.hello, reservedBits: 0x40)))
            #expect(try await peer.readFrame().payload.count < echo.payload.count)
        }
    }

    @Test("A bomb closes its connection with 1009, and the others go on", arguments: [false, true])
    func bomb(inFragments: Bool) async throws {
        var payload: [UInt8] = []
        let zeros = [UInt8](repeating: 0, count: 50_000_000)
        #expect(Deflater(.init(windowBits: 15, level: 9)).deflate(rawSpan(of: zeros), into: &payload))
        try await Self.withPeer(limits: .internet.with(messageSize: .kibibytes(100))) { [payload] peer, address in
            let other = try await WebSocket.connect(to: "ws://\(address)/")
            if inFragments {
                try await peer.send(RawFrame(0x2, Array(payload.prefix(20)), isFinal: false, reservedBits: 0x40))
                try await peer.send(.continuation(Array(payload[20..<100]), isFinal: false))
                try await peer.send(.continuation(Array(payload[100..<1_000])))
            } else {
                try await peer.send(RawFrame(0x2, payload, reservedBits: 0x40))
            }
            #expect(try await peer.readFrame().closeCode == 1_009)
            try await other.send(Self.text)
            #expect(try await other.receive() == .text(Self.text))
            await other.close()
        }
    }

    @Test(
        "What must not be compressed, or isn't, closes with the right code",
        arguments: [
            (RawFrame(0x9, [], reservedBits: 0x40), 1_002), (RawFrame(0x8, [], reservedBits: 0x40), 1_002),
            (RawFrame(0x1, hello, reservedBits: 0x60), 1_002), (RawFrame(0x1, [0x07], reservedBits: 0x40), 1_007),
            (RawFrame(0x1, Array(hello.prefix(3)), reservedBits: 0x40), 1_007),
        ] as [(RawFrame, UInt16)]
    )
    func violations(frame: RawFrame, code: UInt16) async throws {
        try await Self.withPeer { peer, _ in
            try await peer.send(frame)
            #expect(try await peer.readFrame().closeCode == code)
        }
    }

    @Test("The bit on a continuation closes with 1002")
    func bitOnContinuation() async throws {
        try await Self.withPeer { peer, _ in
            try await peer.send(
                RawFrame(0x1, Self.hello, isFinal: false, reservedBits: 0x40),
                RawFrame(0x0, [0], reservedBits: 0x40)
            )
            #expect(try await peer.readFrame().closeCode == 1_002)
        }
    }
}

@_lifetime(borrow bytes)
private func rawSpan(of bytes: borrowing [UInt8]) -> RawSpan {
    // Bytes have no padding.
    unsafe bytes.span.bytes
}
