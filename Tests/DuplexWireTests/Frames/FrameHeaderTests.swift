// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Writing frame headers")
struct FrameHeaderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let header: FrameHeader
        let bytes: [UInt8]
        var testDescription: String { "\(bytes)" }

        init(_ header: FrameHeader, _ bytes: [UInt8]) {
            self.header = header
            self.bytes = bytes
        }
    }

    static let rows = [
        Row(FrameHeader(opcode: .text, payloadLength: 0), [0x81, 0]),
        Row(FrameHeader(isFinal: false, opcode: .binary, payloadLength: 1), [0x02, 1]),
        Row(FrameHeader(opcode: .continuation, payloadLength: 125), [0x80, 125]),
        Row(FrameHeader(opcode: .binary, payloadLength: 126), [0x82, 126, 0, 126]),
        Row(FrameHeader(opcode: .binary, payloadLength: 127), [0x82, 126, 0, 127]),
        Row(FrameHeader(opcode: .binary, payloadLength: 65_535), [0x82, 126, 0xFF, 0xFF]),
        Row(FrameHeader(opcode: .binary, payloadLength: 65_536), [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
        Row(
            FrameHeader(opcode: .binary, payloadLength: 1 << 63 - 1),
            [0x82, 127, 0x7F] + .init(repeating: 0xFF, count: 7)
        ),
        Row(FrameHeader(reservedBits: 0x40, opcode: .text, payloadLength: 2), [0xC1, 2]),
        Row(FrameHeader(reservedBits: 0x70, opcode: .text, payloadLength: 2), [0xF1, 2]),
        Row(FrameHeader(reservedBits: 0x8F, opcode: .text, payloadLength: 2), [0x81, 2]),
        Row(
            FrameHeader(opcode: .ping, maskingKey: 0x0403_0201, payloadLength: 5),
            [0x89, 0x85, 1, 2, 3, 4]
        ),
        Row(
            FrameHeader(opcode: .text, maskingKey: 0xF0E0_D0C0, payloadLength: 300),
            [0x81, 0xFE, 1, 44, 0xC0, 0xD0, 0xE0, 0xF0]
        ),
        Row(
            FrameHeader(opcode: .text, maskingKey: 0, payloadLength: 65_537),
            [0x81, 0xFF, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0]
        ),
    ]

    @Test("A header is written in its shortest form", arguments: rows)
    func writing(row: Row) {
        #expect(written(room: row.bytes.count) { row.header.write(into: &$0) } == row.bytes)
    }

    @Test("The size of a header is what is written", arguments: rows)
    func size(row: Row) {
        let count = Int(row.header.payloadLength)
        #expect(FrameHeader.size(payload: count, isMasked: row.header.maskingKey != nil) == row.bytes.count)
        #expect(row.bytes.count <= FrameHeader.maximumSize)
    }

    @Test("The longest header has 14 bytes, the longest control payload 125")
    func bounds() {
        #expect(FrameHeader.maximumSize == FrameHeader.size(payload: .max, isMasked: true))
        #expect(FrameHeader.maximumControlPayload == 125)
    }
}
