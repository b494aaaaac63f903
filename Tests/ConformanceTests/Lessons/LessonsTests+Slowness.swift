// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

// Peers that hold a connection, and memory, by being slow: alive to every ping, and never done.

extension LessonsTests {
    private static let hurried = MessageLimits.internet.with(messageTime: .milliseconds(200))

    @Test("A message that is begun and never finished fails with 1008", arguments: Endpoint.allCases)
    func unfinishedMessage(endpoint: Endpoint) async throws {
        try await endpoint.open(limits: Self.hurried) { peer in
            try await peer.expectEcho()
            try await peer.send(RawFrame(0x1, Array("begun".utf8), isFinal: false), .ping([1]))
            #expect(try await peer.readFrame().opcode == 0xA)
            try await peer.expectFailure(1_008)
        }
    }

    @Test("So does a frame that never comes to its end", arguments: Endpoint.allCases)
    func unfinishedFrame(endpoint: Endpoint) async throws {
        try await endpoint.open(limits: Self.hurried) { peer in
            try await peer.send(Array(peer.encoded(.text(String(repeating: "a", count: 1_000))).prefix(500)))
            try await peer.expectFailure(1_008)
        }
    }

    @Test("A connection without a message takes all the time it likes", arguments: Endpoint.allCases)
    func idle(endpoint: Endpoint) async throws {
        try await endpoint.open(limits: .internet.with(messageTime: .nanoseconds(1))) { peer in
            try await peer.expectEcho()
            try await peer.expectEcho()
        }
    }
}
