// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Synchronization
import Testing

@testable import DuplexWire

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

@Suite("Sources of masking keys")
struct MaskingKeysTests {
    @Test("Each key is drawn afresh")
    func drawing() {
        let count = Mutex<UInt32>(0)
        let keys = MaskingKeys {
            count.withLock { count in
                count += 1
                return count
            }
        }
        #expect((0..<3).map { _ in keys.next() } == [1, 2, 3])
    }
}

@Suite("Reading frame headers")
struct FrameHeaderParserTests {
    struct Outcome: Equatable, Sendable {
        var headers: [FrameHeader] = []
        var error: WebSocketProtocolError?
        var isMidHeader = false
    }

    /// Reads headers that stand directly one behind the other, as those of empty frames do.
    static func read(_ input: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) -> Outcome {
        let report = SplitVerifier().report(on: input) { read(pieces: $0) }
        if !report.isUniform { Issue.record("\(report)", sourceLocation: sourceLocation) }
        return read(pieces: [input])
    }

    private static func read(pieces: [[UInt8]]) -> Outcome {
        var outcome = Outcome()
        var parser = FrameHeaderParser()
        for piece in pieces {
            var position = 0
            do throws(WebSocketProtocolError) {
                while let header = try parser.parse(piece.span.raw, from: &position) { outcome.headers.append(header) }
            } catch {
                outcome.error = error
                return outcome
            }
        }
        outcome.isMidHeader = parser.isMidHeader
        return outcome
    }

    @Test("What is written is read again, in every split", arguments: FrameHeaderTests.rows)
    func roundTrip(row: FrameHeaderTests.Row) {
        #expect(Self.read(row.bytes) == Outcome(headers: [row.header]))
    }

    @Test("Headers in a row are read one after the other, in every split")
    func row() {
        let rows = FrameHeaderTests.rows
        #expect(Self.read(rows.flatMap(\.bytes)) == Outcome(headers: rows.map(\.header)))
    }

    @Test("Random headers are read as they were written", arguments: [UInt64(1), 2, 3, 4])
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let headers = (0..<500).map { _ in
            let bits = Int.random(in: 0...63, using: &generator)
            return FrameHeader(
                isFinal: .random(using: &generator),
                reservedBits: .random(in: 0...255, using: &generator),
                opcode: Opcode(rawValue: .random(in: 0...15, using: &generator)),
                maskingKey: Bool.random(using: &generator) ? .random(in: .min ... .max, using: &generator) : nil,
                payloadLength: generator.next() & (UInt64(1) << UInt64(bits) - 1)
            )
        }
        let bytes = headers.flatMap { header in written(room: 14) { header.write(into: &$0) } }
        let report = SplitVerifier(randomSplits: 4, positions: 50).report(on: bytes) { Self.read(pieces: $0) }
        #expect(report.expected == .returned(Outcome(headers: headers)))
        #expect(report.isUniform, "\(report)")
    }

    @Test(
        "A length that isn't in its shortest form is refused",
        arguments: [0, 1, 124, 125].map { [126, 0, $0] }
            + [0, 1, 125, 126, 127, 255].map { [127, 0, 0, 0, 0, 0, 0, 0, $0] }
            + [[127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]]
    )
    func notMinimal(length: [UInt8]) {
        #expect(Self.read([0x82] + length).error?.code == .lengthNotMinimal)
        let masked = [0x82, length[0] | 0x80] + length.dropFirst() + [1, 2, 3, 4]
        #expect(Self.read(masked).error?.code == .lengthNotMinimal)
    }

    @Test("A length with its highest bit set is refused", arguments: [UInt8(0x80), 0xFF])
    func topBit(byte: UInt8) {
        let outcome = Self.read([0x82, 127, byte, 0, 0, 0, 0, 1, 0, 0])
        #expect(outcome.error?.code == .lengthTooLarge)
        #expect(outcome.error?.closeCode == .protocolError)
    }

    @Test("Part of a header gives nothing and is remembered")
    func partial() {
        for row in FrameHeaderTests.rows {
            for count in 0..<row.bytes.count {
                #expect(Self.read(Array(row.bytes.prefix(count))) == Outcome(isMidHeader: count > 0))
            }
        }
    }

    @Test("The payload behind a header is left where it is")
    func position() throws {
        var parser = FrameHeaderParser()
        let input: [UInt8] = [0xFF, 0xFF, 0x81, 3, 1, 2, 3]
        var position = 2
        let header = try parser.parse(input.span.raw, from: &position)
        #expect(header == FrameHeader(opcode: .text, payloadLength: 3))
        #expect(position == 4)
        #expect(!parser.isMidHeader)
    }
}
