// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexTestTimes
import DuplexWire
import Testing

/// RFC 6455 sections 5.2 and 5.4: messages of megabytes, in one frame and in as many as are allowed.
@Suite("Long messages", .timeLimit(minutes: 2)) struct LongMessageTests {
    private static let size = 4 << 20

    /// Each byte depends on where it stands, also beyond the length of a fragment.
    private static let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 10) }

    @Test(
        "4 MiB in one frame, and in fragments down to 64 bytes, come back whole",
        arguments: [64, 256, 1_024, 65_536, 1 << 20, size],
        Endpoint.allCases
    )
    func fragments(length: Int, endpoint: Endpoint) async throws {
        try await endpoint.open(limits: .local) { peer in
            let payload = Self.payload
            var bytes: [UInt8] = []
            for start in stride(from: 0, to: payload.count, by: length) {
                let piece = Array(payload[start..<start + length])
                let isFinal = start + length == payload.count
                bytes += peer.encoded(RawFrame(start == 0 ? 0x2 : 0x0, piece, isFinal: isFinal))
            }
            async let sent: Void = peer.send(bytes)
            let frame = try await peer.readFrame()
            try await sent
            #expect(frame.opcode == 0x2 && frame.isFinal)
            // Not both in the report.
            let isSame = frame.payload == payload
            #expect(isSame)
        }
    }

    @Test("One fragment more than is allowed fails with 1008, however little is in it", arguments: Endpoint.allCases)
    func tooMany(endpoint: Endpoint) async throws {
        try await endpoint.open(limits: .local) { peer in
            let first = peer.encoded(RawFrame(0x2, [1], isFinal: false))
            let next = peer.encoded(.continuation([1], isFinal: false))
            try await peer.send(first + (0..<MessageLimits.local.fragments).flatMap { _ in next })
            try await peer.expectFailure(1_008)
        }
    }
}
