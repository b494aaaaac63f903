// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexWebSockets

@Suite struct PieceTrafficTests {
    @Test("What is held is counted, and nobody is found under another's identity")
    func holding() {
        let streams = PieceTraffic()
        streams.hold(.binary, [1, 2], compress: nil)
        streams.hold(.text, [0x61], compress: true)
        #expect(streams.heldBytes == 3 && streams.lastTicket == 2 && streams.held.count == 2)
        #expect(streams.removeWriter(1) == nil && streams.removeSender(1) == nil)
        #expect(streams.dropHeld().isEmpty)
        #expect(streams.heldBytes == 0 && streams.held.isEmpty)
    }
}
