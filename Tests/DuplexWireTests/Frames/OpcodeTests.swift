// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Opcodes")
struct OpcodeTests {
    @Test("The registered opcodes have their numbers and names")
    func registered() {
        let opcodes: [Opcode] = [.continuation, .text, .binary, .close, .ping, .pong]
        #expect(opcodes.map(\.rawValue) == [0, 1, 2, 8, 9, 10])
        #expect(opcodes.map(\.description) == ["continuation", "text", "binary", "close", "ping", "pong"])
        #expect(Opcode(rawValue: 11).description == "opcode 11")
    }

    @Test("All others are reserved")
    func reserved() {
        #expect((0..<16).filter { Opcode(rawValue: $0).isReserved } == [3, 4, 5, 6, 7, 11, 12, 13, 14, 15])
    }

    @Test("Control frames are those whose opcode has its highest bit set")
    func control() {
        #expect((0..<16).filter { Opcode(rawValue: $0).isControl } == Array(8..<16))
    }

    @Test("An opcode is the low four bits of a frame's first byte")
    func fourBits() {
        #expect(Opcode(rawValue: 0x81) == .text)
        #expect(Opcode(rawValue: 0xFA).rawValue == 0x0A)
    }
}
