// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexWire
import Testing

/// RFC 6455 sections 5.1 to 5.4 and 5.6.
@Suite struct FramingTests {
    @Test("5.1 A client masks each frame, a server none", arguments: Endpoint.allCases)
    func masking(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            try await peer.send(.text("a"), .ping([1]), .binary([]))
            for _ in 0..<3 { #expect(try await peer.readFrame().isMasked == (endpoint == .client)) }
            try await peer.send(.close(1_000))
            #expect(try await peer.readFrame().isMasked == (endpoint == .client))
        }
    }

    @Test(
        "5.1 A frame that is masked the wrong way fails the connection with 1002",
        arguments: Endpoint.allCases,
        [0x1, 0x9, 0x8] as [UInt8]
    )
    func wrongMasking(endpoint: Endpoint, opcode: UInt8) async throws {
        try await endpoint.open { peer in
            let frame = RawFrame(opcode, [])
            try await peer.send(frame.bytes(key: endpoint == .client ? [1, 2, 3, 4] : nil))
            try await peer.expectFailure(1_002)
        }
    }

    @Test(
        "5.2 A reserved bit set fails the connection with 1002",
        arguments: Endpoint.allCases,
        [0x40, 0x20, 0x10, 0x70] as [UInt8]
    )
    func reservedBits(endpoint: Endpoint, bits: UInt8) async throws {
        for opcode: UInt8 in [0x1, 0x9] {
            try await endpoint.open { peer in
                try await peer.send(RawFrame(opcode, [1], reservedBits: bits), failing: 1_002)
            }
        }
    }

    @Test(
        "5.2 A reserved opcode fails the connection with 1002",
        arguments: Endpoint.allCases,
        Array(0x3...0x7) + Array(0xB...0xF) as [UInt8]
    )
    func reservedOpcodes(endpoint: Endpoint, opcode: UInt8) async throws {
        try await endpoint.open { peer in
            try await peer.send(RawFrame(opcode, []), failing: 1_002)
        }
    }

    @Test(
        "5.2 Payloads of all lengths come back, their length in the shortest form",
        arguments: Endpoint.allCases,
        [
            0, 1, 125, 126, 127, 128, 65_535, 65_536, 65_537, 1 << 20,
        ]
    )
    func lengths(endpoint: Endpoint, length: Int) async throws {
        try await endpoint.open { peer in
            let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            try await peer.send(.binary(payload))
            let header = try await peer.read(exactly: length < 126 ? 2 : length <= 65_535 ? 4 : 10)
            #expect(header[0] == 0x82)
            #expect(header[1] & 0x7F == (length < 126 ? UInt8(length) : length <= 65_535 ? 126 : 127))
            let key = endpoint == .client ? try await peer.read(exactly: 4) : [0, 0, 0, 0]
            let echo = try await peer.read(exactly: length)
            #expect(echo.indices.allSatisfy { echo[$0] ^ key[$0 % 4] == payload[$0] })
        }
    }

    @Test(
        "5.2 A length that isn't in its shortest form fails the connection with 1002",
        arguments: Endpoint.allCases,
        [
            (0, RawFrame.LengthForm.sixteenBits), (125, .sixteenBits), (125, .sixtyFourBits), (126, .sixtyFourBits),
            (65_535, .sixtyFourBits),
        ]
    )
    func notMinimal(endpoint: Endpoint, length: (Int, RawFrame.LengthForm)) async throws {
        try await endpoint.open { peer in
            try await peer.send(peer.encoded(.binary([UInt8](repeating: 0, count: length.0)), length: length.1))
            try await peer.expectFailure(1_002)
        }
    }

    @Test("5.2 A length with its highest bit set fails the connection with 1002", arguments: Endpoint.allCases)
    func highestBit(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            try await peer.send([0x82, 127 | (peer.masks ? 0x80 : 0), 0x80, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4])
            try await peer.expectFailure(1_002)
        }
    }

    @Test(
        "5.3 Any key unmasks, that of zeroes too",
        arguments: [[0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF], [0, 1, 0, 2]] as [[UInt8]]
    )
    func keys(key: [UInt8]) async throws {
        try await Endpoint.server.open { peer in
            try await peer.send(RawFrame.text("masked somehow").bytes(key: key))
            #expect(try await peer.readFrame().text == "masked somehow")
            try await peer.sendByteByByte(RawFrame.text("and in pieces").bytes(key: key))
            #expect(try await peer.readFrame().text == "and in pieces")
        }
    }

    @Test("10.3 A client's keys are fresh for each frame")
    func freshKeys() async throws {
        try await Endpoint.client.open { peer in
            var keys: Set<[UInt8]> = []
            for _ in 0..<50 {
                try await peer.send(.binary([]))
                keys.insert(Array(try await peer.read(exactly: 6).dropFirst(2)))
            }
            #expect(keys.count == 50)
        }
    }

    @Test(
        "5.4 A message in any number of fragments, empty ones too, comes back as one",
        arguments: Endpoint.allCases,
        [1, 2, 3, 100]
    )
    func fragments(endpoint: Endpoint, count: Int) async throws {
        try await endpoint.open { peer in
            var frames = [RawFrame.text("begin", isFinal: false)]
            for number in 0..<count { frames.append(.continuation(number % 2 == 0 ? [] : [0x2E], isFinal: false)) }
            try await peer.send(frames + [.continuation(Array("end".utf8))])
            let echo = try await peer.readFrame { $0.opcode != 0x0 }
            #expect(echo.text == "begin" + String(repeating: ".", count: count / 2) + "end")
            #expect(echo.isFinal)
        }
    }

    @Test("5.4 Control frames between fragments are answered at once", arguments: Endpoint.allCases)
    func controlBetweenFragments(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            try await peer.send(.text("a", isFinal: false), .ping([7]), .pong([8]))
            let pong = try await peer.readFrame()
            #expect(pong.opcode == 0xA)
            #expect(pong.payload == [7])
            try await peer.send(.continuation([0x62]))
            #expect(try await peer.readFrame().text == "ab")
        }
    }

    @Test(
        "5.4 A continuation without a beginning fails the connection with 1002",
        arguments: Endpoint.allCases,
        [true, false]
    )
    func noBeginning(endpoint: Endpoint, isFinal: Bool) async throws {
        try await endpoint.open { peer in
            try await peer.send(.text("whole"), .continuation([1], isFinal: isFinal), failing: 1_002)
        }
    }

    @Test(
        "5.4 A message that begins within another fails the connection with 1002",
        arguments: Endpoint.allCases,
        [0x1, 0x2] as [UInt8]
    )
    func withinAnother(endpoint: Endpoint, opcode: UInt8) async throws {
        try await endpoint.open { peer in
            try await peer.send(.text("a", isFinal: false), RawFrame(opcode, []), failing: 1_002)
        }
    }

    @Test("5.6 Text comes back as text and bytes as bytes", arguments: Endpoint.allCases)
    func kinds(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            try await peer.send(.text("text"), .binary([0xFF, 0x00]))
            let text = try await peer.readFrame()
            #expect(text.opcode == 0x1 && text.text == "text")
            let binary = try await peer.readFrame()
            #expect(binary.opcode == 0x2 && binary.payload == [0xFF, 0x00])
        }
    }

    @Test("5.7 The frames of the RFC's examples are read and written byte for byte")
    func examples() async throws {
        let hello: [UInt8] = [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]
        let maskedHello: [UInt8] = [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        let maskedPing: [UInt8] = [0x89, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        try await Endpoint.server.open { peer in
            try await peer.send(maskedHello)
            let text = try await peer.read(exactly: 7)
            #expect(text == hello)
            try await peer.send(maskedPing)
            #expect(try await peer.read(exactly: 7) == [0x8A, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        }
        try await Endpoint.client.open { peer in
            try await peer.send([0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F])
            let frame = try await peer.readFrame()
            #expect(frame.text == "Hello")
        }
    }

    @Test("6.2 Frames are read the same in whichever pieces they come", arguments: Endpoint.allCases)
    func pieces(endpoint: Endpoint) async throws {
        try await endpoint.open { peer in
            let frames = [
                RawFrame.text("ä", isFinal: false), .ping([1]), .continuation(Array("€".utf8)),
                .binary([UInt8](repeating: 5, count: 200)), .close(1_000, "gone"),
            ]
            try await peer.sendByteByByte(frames.flatMap { peer.encoded($0) })
            #expect(try await peer.readFrame().payload == [1])
            #expect(try await peer.readFrame().text == "ä€")
            #expect(try await peer.readFrame().payload.count == 200)
            #expect(try await peer.readFrame().closeCode == 1_000)
        }
    }

    @Test(
        "10.4 A message is as long as the limit allows, and one byte more fails the connection with 1009",
        arguments: Endpoint.allCases
    )
    func messageSize(endpoint: Endpoint) async throws {
        try await endpoint.open(limits: .internet.with(messageSize: 1_000)) { peer in
            try await peer.send(.binary([UInt8](repeating: 1, count: 1_000)))
            #expect(try await peer.readFrame().payload.count == 1_000)
            let half = [UInt8](repeating: 1, count: 500)
            try await peer.send(.binary(half, isFinal: false), .continuation(half))
            #expect(try await peer.readFrame().payload.count == 1_000)
            try await peer.send(.binary(half, isFinal: false), .continuation(half + [1]), failing: 1_009)
        }
    }

    @Test(
        "10.4 A length beyond the limit fails the connection with 1009 before its payload comes",
        arguments: Endpoint.allCases,
        [
            [0, 0, 0, 0, 0, 0x10, 0, 1], [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        ] as [[UInt8]]
    )
    func announcedSize(endpoint: Endpoint, length: [UInt8]) async throws {
        try await endpoint.open { peer in
            try await peer.send([0x82, 127 | (peer.masks ? 0x80 : 0)] + length + (peer.masks ? [1, 2, 3, 4] : []))
            try await peer.expectFailure(1_009)
        }
    }

    @Test("10.4 A message of too many fragments fails the connection with 1008", arguments: Endpoint.allCases)
    func tooManyFragments(endpoint: Endpoint) async throws {
        try await endpoint.open(limits: .internet.with(fragments: 3)) { peer in
            try await peer.send(.text("a", isFinal: false), .continuation([], isFinal: false), .continuation([]))
            #expect(try await peer.readFrame().text == "a")
            let empty = RawFrame.continuation([], isFinal: false)
            try await peer.send(.text("a", isFinal: false), empty, empty, empty, failing: 1_008)
        }
    }
}
