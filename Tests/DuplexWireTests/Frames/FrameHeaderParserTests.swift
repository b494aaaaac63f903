// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexWire

@Suite("Reading frame headers")
struct FrameHeaderParserTests {
    struct Outcome: Equatable, Sendable {
        var headers: [FrameHeader] = []
        var error: ProtocolError?
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
            do throws(ProtocolError) {
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
