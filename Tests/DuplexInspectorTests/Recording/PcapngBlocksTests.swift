// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexInspector

@Suite("Blocks of pcapng")
struct PcapngBlocksTests {
    @Test("Each block says its length at both ends, in whole words", arguments: 0...5)
    func blocks(size: Int) throws {
        let packet = TCPConversation.Packet(
            time: 0x0001_0203_0405_0607,
            bytes: [UInt8](repeating: 0xAB, count: size),
            comment: size == 5 ? "a comment" : nil
        )
        let file = PcapngBlocks.file([packet, packet])
        var kinds: [UInt32] = []
        var position = 0
        while position < file.count {
            let length = Int(number(file, position + 4))
            try #require(length >= 12 && length % 4 == 0 && position + length <= file.count)
            #expect(Int(number(file, position + length - 4)) == length)
            kinds.append(number(file, position))
            position += length
        }
        #expect(kinds == [0x0A0D_0D0A, 1, 6, 6])
    }

    @Test("The time of a packet is in two words, the higher one first")
    func time() {
        let empty = PcapngBlocks.file([]).count
        let file = PcapngBlocks.file([TCPConversation.Packet(time: 0x0001_0203_0405_0607, bytes: [])])
        #expect(number(file, empty + 12) == 0x0001_0203)
        #expect(number(file, empty + 16) == 0x0405_0607)
    }

    private func number(_ bytes: [UInt8], _ place: Int) -> UInt32 {
        bytes[place..<place + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
