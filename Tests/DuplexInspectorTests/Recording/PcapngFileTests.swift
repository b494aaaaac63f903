// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("Packets around a recording")
struct PcapngFileTests {
    @Test("A recording of nothing is a file of no packets")
    func empty() {
        #expect(PcapngFile.write(Recording()) == PcapngBlocks.file([]))
    }

    @Test("Whatever was recorded is in the packets", arguments: [true, false])
    func contents(isClient: Bool) throws {
        var recording = try Sample.recording()
        recording.connections[0].isClient = isClient
        let text = String(decoding: PcapngFile.write(recording), as: Unicode.ASCII.self)
        #expect(text.contains("POST /orders?x=1&y= HTTP/1.1"))
        #expect(text.contains("GET /chat?room=a%20b HTTP/1.1"))
        // Clients mask, servers don't.
        #expect(text.contains("between") == isClient)
    }

    @Test(
        "The length of a frame is in its shortest form",
        arguments: [(0, 2), (125, 2), (126, 4), (65_535, 4), (65_536, 10)]
    )
    func lengths(count: Int, header: Int) {
        var frame = Sample.frame("", .binary, number: 3)
        frame.payload = RecordedBytes([UInt8](repeating: 7, count: count))
        #expect(PcapngFile.bytes(of: frame, isMasked: false).count == header + count)
        let masked = PcapngFile.bytes(of: frame, isMasked: true)
        #expect(masked.count == header + 4 + count)
        #expect(masked[1] & 0x80 != 0)
        let key = masked[header..<header + 4]
        let plain = masked.dropFirst(header + 4).enumerated().map { $0.element ^ key[header + $0.offset % 4] }
        #expect(plain == frame.payload.bytes)
    }

    @Test("What was cut is said in a comment, and so is TLS")
    func comments() throws {
        var recording = try Sample.recording()
        recording.connections[0].isSecure = true
        recording.connections[0].frames[0].payload.size = 1_000
        recording.exchanges[0].responseBody.size = 2_000
        let text = String(decoding: PcapngFile.write(recording), as: UTF8.self)
        #expect(text.contains("This went over TLS."))
        #expect(text.contains("The first 10 of 1000 bytes."))
        #expect(text.contains("The first 11 of 2000 bytes."))
    }
}

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
