// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

// What others have paid for where messages are compressed.

extension LessonsTests {
    /// So many zeros, as a compressed message has them.
    static func deflated(zeros count: Int) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: count)
        var payload: [UInt8] = []
        #expect(Deflater(.init(windowBits: 15, level: 9)).deflate(zeros.span.raw, into: &payload))
        return payload
    }

    @Test("A bomb fails with 1009 as soon as it has inflated to more than is allowed", arguments: Endpoint.allCases)
    func bomb(endpoint: Endpoint) async throws {
        let bomb = Self.deflated(zeros: 30_000_000)
        try await endpoint.openCompressed { peer in
            try await peer.send(RawFrame(0x2, bomb, reservedBits: 0x40), failing: 1_009)
        }
    }

    @Test("A bomb in fragments fails before its last one", arguments: Endpoint.allCases)
    func bombInFragments(endpoint: Endpoint) async throws {
        let bomb = Self.deflated(zeros: 30_000_000)
        try await endpoint.openCompressed { peer in
            try await peer.send(RawFrame(0x2, Array(bomb.prefix(5)), isFinal: false, reservedBits: 0x40))
            try await peer.send(.continuation(Array(bomb[5..<20_000]), isFinal: false))
            try await peer.expectFailure(1_009)
        }
    }

    @Test("The bit of compression is for the first frame of a message only", arguments: Endpoint.allCases)
    func misplacedBit(endpoint: Endpoint) async throws {
        let first = RawFrame(0x1, [0xF2], isFinal: false, reservedBits: 0x40)
        let wrong = [0x8, 0x9, 0xA].map { [RawFrame($0, [], reservedBits: 0x40)] }
        for frames in wrong + [[first, RawFrame(0x0, [0x48], reservedBits: 0x40)]] {
            try await endpoint.openCompressed { peer in
                try await peer.send(frames)
                try await peer.expectFailure(1_002)
            }
        }
    }

    /// The options of a client whose offer names its parameters.
    private static var naming: WebSocketOptions {
        var options = WebSocketOptions()
        options.compression = .parameters(CompressionParameters())
        return options
    }

    @Test("A server that declines every offer with parameters finds one that it can accept")
    func plainOffer() async throws {
        try await withListener { url, accept in
            async let connected = WebSocket.connect(to: url, options: Self.naming.patient)
            let peer = try await accept()
            let request = try await peer.acceptWebSocket(headers: "Sec-WebSocket-Extensions: permessage-deflate")
            let offers = request.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Extensions: ") } ?? ""
            // The last one asks nothing of the server, and has no parameter with a value.
            let last = offers.split(separator: ",").last ?? ""
            #expect(last == " permessage-deflate; client_max_window_bits", "\(offers)")
            let socket = try await connected
            #expect(await socket.compression != nil)
            await peer.reset()
        }
    }

    @Test("A server that refuses whoever names a window takes what a client offers by default")
    func refusedParameters() async throws {
        try await withListener { url, accept in
            let refused = Task { try await WebSocket.connect(to: url, options: Self.naming.patient) }
            let first = try await accept()
            let head = try await first.readHead()
            #expect(head.contains("_window_bits="))
            try await first.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            guard case .failure(let error as WebSocketError) = await refused.result else {
                Issue.record("A refusal isn't an error.")
                return
            }
            #expect(error.handshake?.code == .refused)
            async let connected = WebSocket.connect(to: url, options: WebSocketOptions().patient)
            let second = try await accept()
            let request = try await second.acceptWebSocket(headers: "Sec-WebSocket-Extensions: permessage-deflate")
            #expect(request.contains("\r\nSec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"))
            let socket = try await connected
            #expect(await socket.compression != nil)
            for peer in [first, second] { await peer.reset() }
        }
    }

    @Test("A window of 8, which zlib can't deflate with, does no harm: in an offer, in an answer, and as our own")
    func windowOfEight() async throws {
        // Inflating with a window of 8 is what zlib can, so an answer that promises it holds.
        try await withListener { url, accept in
            async let connected = WebSocket.connect(to: url, options: WebSocketOptions().patient)
            let peer = try await accept()
            try await peer.acceptWebSocket(
                headers: "Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=8; "
                    + "client_max_window_bits=8"
            )
            let socket = try await connected
            try await peer.send(RawFrame(0x1, [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00], reservedBits: 0x40))
            #expect(try await socket.receive() == "Hello")
            try await socket.send("Hello")
            let frame = try await peer.readFrame()
            // ISA-L can deflate with 8, and zlib understands it.
            #expect(frame.reservedBits == 0x40 && frame.payload == [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])
            await peer.reset()
        }
        // A server that is asked to deflate with 8 declines.
        try await withServer { server in
            server.webSockets.compression = .enabled
            server.webSocket("/") { _ in }
        } _: { address in
            let field = "Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=8"
            let peer = try await RawPeer.connect(to: address)
            let response = try await peer.response(to: RawPeer.upgradeRequest("/", field))
            #expect(response.status == 101 && response["Sec-WebSocket-Extensions"] == nil)
            await peer.close()
        }
        var parameters = CompressionParameters()
        parameters.serverWindowBits = 8
        parameters.clientWindowBits = 8
        var options = WebSocketOptions()
        options.compression = .parameters(parameters)
        try await withPair(options: options) { [parameters] in
            $0.webSockets.compression = .parameters(parameters)
        } _: { client, server in
            let text = String(repeating: "a window of eight ", count: 100)
            try await client.send(text)
            #expect(try await server.receive() == .text(text))
            try await server.send(text)
            #expect(try await client.receive() == .text(text))
            await client.close()
        }
    }
}
