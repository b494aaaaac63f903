// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import Testing

/// RFC 6455 section 5.5.
@Suite struct ControlFrameTests {
    @Test(
        "5.5 A control frame of more than 125 bytes fails the connection with 1002",
        arguments: Endpoint.allCases,
        [0x8, 0x9, 0xA] as [UInt8]
    )
    func tooLong(endpoint: Endpoint, opcode: UInt8) async throws {
        try await endpoint.open { peer in
            try await peer.send(RawFrame(opcode, [UInt8](repeating: 0x20, count: 126)), failing: 1_002)
        }
    }

    @Test(
        "5.5 A control frame in fragments fails the connection with 1002",
        arguments: Endpoint.allCases,
        [0x8, 0x9, 0xA] as [UInt8]
    )
    func fragmented(endpoint: Endpoint, opcode: UInt8) async throws {
        try await endpoint.open { peer in
            try await peer.send(RawFrame(opcode, [], isFinal: false), failing: 1_002)
        }
    }

    @Test(
        "5.5.1 A close frame is answered with its own code, and nothing follows",
        arguments: Endpoint.allCases,
        [
            1_000, 1_001, 1_002, 1_003, 1_007, 1_008, 1_009, 1_010, 1_011, 1_012, 1_013, 1_014, 3_000, 3_999, 4_000,
            4_999,
        ] as [UInt16]
    )
    func closeCodes(endpoint: Endpoint, code: UInt16) async throws {
        try await endpoint.open { peer in
            try await peer.send(.close(code, "why"))
            let answer = try await peer.readFrame()
            #expect(answer.opcode == 0x8)
            #expect(answer.closeCode == code)
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("5.5.1 An empty close frame is answered with an empty one", arguments: Endpoint.allCases)
    func emptyClose(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            try await peer.send(.close())
            let answer = try await peer.readFrame()
            #expect(answer.opcode == 0x8)
            #expect(answer.payload.isEmpty)
        }
    }

    @Test("5.5.1 A close frame of one byte fails the connection with 1002", arguments: Endpoint.allCases)
    func halfACode(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            try await peer.send(RawFrame(0x8, [0x03]), failing: 1_002)
        }
    }

    @Test("5.5.1 A reason that isn't UTF-8 fails the connection with 1007", arguments: Endpoint.allCases)
    func badReason(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            try await peer.send(RawFrame(0x8, [0x03, 0xE8, 0xCE, 0xBA, 0xE1]), failing: 1_007)
        }
    }

    @Test("5.5.1 The longest reason is 123 bytes", arguments: Endpoint.allCases)
    func longestReason(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            try await peer.send(.close(1_000, String(repeating: "r", count: 123)))
            let answer = try await peer.readFrame()
            #expect(answer.closeCode == 1_000)
        }
    }

    @Test("5.5.1 What follows a close frame is ignored", arguments: Endpoint.allCases)
    func behindClose(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            try await peer.send(.close(1_000), .text("too late"), .ping([1]), RawFrame(0x3, []))
            let answer = try await peer.readFrame()
            #expect(answer.closeCode == 1_000)
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("5.5.1 A close within a message is answered, and the message dropped", arguments: Endpoint.allCases)
    func closeWithinAMessage(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            try await peer.send(.text("never ended", isFinal: false), .close(1_001))
            let answer = try await peer.readFrame()
            #expect(answer.closeCode == 1_001)
        }
    }

    @Test("5.5.2 A ping is answered with a pong of the same payload", arguments: Endpoint.allCases, [0, 1, 124, 125])
    func pings(endpoint: Endpoint, length: Int) async throws {
        try await endpoint.open { peer in
            let payload = (0..<length).map { UInt8($0) }
            try await peer.send(.ping(payload))
            let pong = try await peer.readFrame()
            #expect(pong.opcode == 0xA)
            #expect(pong.payload == payload)
            #expect(pong.isFinal)
        }
    }

    @Test("5.5.3 Of several pings at once, the last is answered", arguments: Endpoint.allCases)
    func severalPings(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            try await peer.send((0..<100).map { .ping([$0]) })
            let last = try await peer.readFrame { $0.payload == [99] }
            #expect(last.opcode == 0xA)
        }
    }

    @Test("5.5.3 A pong that nobody asked for is ignored", arguments: Endpoint.allCases)
    func unaskedPong(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            try await peer.send(.pong(), .pong([1, 2, 3]), .pong([UInt8](repeating: 0, count: 8)))
            try await peer.expectEcho()
        }
    }
}
