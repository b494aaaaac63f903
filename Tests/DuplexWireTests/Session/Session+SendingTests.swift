// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("Control frames that wait to be sent")
struct ControlOutputTests {
    static func taken(_ output: inout ControlOutput) -> [PeerFrame] {
        output.takeAll().map { PeerFrame(opcode: $0.opcode, payload: $0.payload) }
    }

    @Test("Frames are taken in the order in which they were queued, once")
    func order() {
        var output = ControlOutput()
        #expect(output.isEmpty)
        output.ping([1])
        output.pong([2])
        output.ping([3])
        output.close([4])
        #expect(!output.isEmpty)
        let frames = [
            PeerFrame(opcode: .ping, payload: [1]), .pong([2]), .init(opcode: .ping, payload: [3]),
            .init(opcode: .close, payload: [4]),
        ]
        #expect(Self.taken(&output) == frames)
        #expect(output.isEmpty)
        #expect(Self.taken(&output).isEmpty)
    }

    @Test("A later pong takes the place of one that still waits")
    func latestPong() {
        var output = ControlOutput()
        output.pong([1])
        output.ping([9])
        output.pong([2])
        #expect(Self.taken(&output) == [PeerFrame(opcode: .ping, payload: [9]), .pong([2])])
    }

    @Test("However many pings and pongs are queued, few wait")
    func bounded() {
        var output = ControlOutput()
        for number in 0..<1_000 {
            output.ping([UInt8(number & 0xFF)])
            output.pong([UInt8(number & 0xFF)])
        }
        #expect(output.frames.count == ControlOutput.maximumPings + 1)
    }
}
