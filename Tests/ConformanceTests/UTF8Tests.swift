// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import Testing

/// RFC 6455 section 8.1, with the sequences of RFC 3629.
@Suite struct UTF8Tests {
    private static let valid = [
        "", "\u{0}", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFD}", "\u{FFFF}",
        "\u{10000}",
        "\u{10FFFF}", "κόσμε", "Hello-µ@ßöäüàá-UTF-8!!",
    ]

    private static let invalid: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x00], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
        [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
        [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE],
        [0xFF], Array("κόσμε".utf8) + [0xED, 0xA0, 0x80] + Array("edited".utf8),
    ]

    @Test("8.1 Text in valid UTF-8 comes back", arguments: Endpoint.allCases, valid)
    func validText(endpoint: Endpoint, text: String) async throws {
        try await endpoint.open { peer in
            try await peer.send(.text(text))
            let echo = try await peer.readFrame()
            #expect(echo.payload == Array(text.utf8))
        }
    }

    @Test("8.1 Text that isn't UTF-8 fails the connection with 1007", arguments: Endpoint.allCases, invalid)
    func invalidText(endpoint: Endpoint, bytes: [UInt8]) async throws {
        try await endpoint.open { peer in
            try await peer.send(RawFrame(0x1, bytes), failing: 1_007)
        }
        try await endpoint.open { peer in
            let split = bytes.count / 2
            try await peer.send(
                RawFrame(0x1, Array(bytes[..<split]), isFinal: false),
                .continuation(Array(bytes[split...])),
                failing: 1_007
            )
        }
    }

    @Test("8.1 A character may be split between fragments at any byte", arguments: Endpoint.allCases)
    func splitCharacter(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            let bytes = Array("κό€𐍈".utf8)
            var frames = bytes.map { RawFrame.continuation([$0], isFinal: false) }
            frames[0].opcode = 0x1
            frames[frames.count - 1].isFinal = true
            try await peer.send(frames)
            let echo = try await peer.readFrame()
            #expect(echo.payload == bytes)
        }
    }

    @Test("8.1 The fault is found at its byte, before the message or its frame is whole", arguments: Endpoint.allCases)
    func failFast(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            try await peer.send(
                .text("fine so far", isFinal: false),
                .continuation([0xFF], isFinal: false),
                failing: 1_007
            )
        }
        try await endpoint.open { peer in
            let frame = peer.encoded(
                RawFrame(0x1, Array("begun ".utf8) + [0xF4, 0x90] + [UInt8](repeating: 0x61, count: 50))
            )
            try await peer.send(Array(frame.prefix(frame.count - 40)))
            try await peer.expectFailure(1_007)
        }
    }

    @Test("8.1 Bytes need not be UTF-8", arguments: Endpoint.allCases)
    func binary(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            for bytes in Self.invalid {
                try await peer.send(.binary(bytes))
                #expect(try await peer.readFrame().payload == bytes)
            }
        }
    }
}
