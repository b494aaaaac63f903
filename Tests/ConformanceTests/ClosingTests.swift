// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

/// RFC 6455 section 7.
@Suite struct ClosingTests {
    @Test("7.1.1 Behind both close frames the endpoint ends its stream", arguments: Endpoint.allCases)
    func endOfStream(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            try await peer.send(.close(1_000))
            let answer = try await peer.readFrame()
            #expect(answer.closeCode == 1_000)
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("7.1.2 The handshake that our side begins is a close frame, and nothing behind it")
    func ourClose() async throws {
        try await withClient { socket, peer in
            async let report = socket.close(code: .goingAway, reason: "leaving")
            let frame = try await peer.readFrame()
            #expect(frame.closeCode == 1_001)
            #expect(frame.closeReason == "leaving")
            // A message of the peer's that was on its way is no reason to answer anything.
            try await peer.send(.text("on its way"), .ping([1]), .close(1_001))
            #expect(try await peer.isAtEnd())
            await peer.close()
            #expect(await report.isClean)
        }
    }

    @Test("7.1.4 A connection is closed cleanly when both close frames were exchanged, and not otherwise")
    func clean() async throws {
        try await withPair { client, server in
            let report = await client.close()
            #expect(report.isClean)
            #expect(await server.close().isClean)
        }
        try await withClient { socket, peer in
            try await peer.send(.text("a"))
            _ = try await socket.receive()
            await peer.close()
            await #expect(throws: WebSocketError.self) { try await socket.receive() }
            #expect(await !socket.closeReport.isClean)
        }
    }

    @Test(
        "7.1.5 The code is the peer's, 1005 where it sent none and 1006 where it sent no close frame",
        arguments: [
            (RawFrame.close(4_000), 4_000), (.close(), 1_005), (nil, 1_006),
        ] as [(RawFrame?, UInt16)]
    )
    func reportedCode(frame: RawFrame?, code: UInt16) async throws {
        try await withClient { socket, peer in
            if let frame { try await peer.send(frame) }
            await peer.close()
            await #expect(throws: WebSocketError.self) { try await socket.receive() }
            let report = await socket.close()
            #expect(report.code.rawValue == code)
        }
    }

    @Test("7.1.6 The reason is the peer's")
    func reportedReason() async throws {
        try await withClient { socket, peer in
            try await peer.send(.close(1_000, "grüße"))
            await peer.close()
            let report = await socket.close()
            #expect(report.received?.reason == "grüße")
        }
    }

    @Test("7.1.7 A failed connection takes nothing that follows the fault", arguments: Endpoint.allCases)
    func failing(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            try await peer.send(.text("before"), RawFrame(0x3, []), .text("behind"), .ping([1]))
            let frame = try await peer.readFrame()
            #expect(frame.text == "before")
            #expect(try await peer.readFrame().closeCode == 1_002)
            #expect(try await peer.isAtEnd())
        }
    }

    @Test(
        "7.2.1 A stream that ends without a close frame is the end, and the endpoint ends its own",
        arguments: Endpoint.allCases
    )
    func abnormalEnd(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            try await peer.expectEcho()
            await peer.finishWriting()
            #expect(try await peer.isAtEnd())
        }
    }

    @Test(
        "7.4 A close frame with a code that may not be sent fails the connection with 1002",
        arguments: Endpoint.allCases,
        [
            0, 1, 999, 1_004, 1_005, 1_006, 1_015, 1_016, 1_100, 2_000, 2_999, 5_000, 65_535,
        ] as [UInt16]
    )
    func invalidCodes(endpoint: Endpoint, code: UInt16) async throws {
        try await endpoint.open { peer in
            try await peer.send(.close(code, "x"), failing: 1_002)
        }
    }
}
