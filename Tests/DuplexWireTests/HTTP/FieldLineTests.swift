// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import HTTPTypes
import Testing

@testable import DuplexWire

@Suite("Field lines")
struct FieldLineTests {
    @Test(
        "A name and a value are told apart, without the white space around the value",
        arguments: [
            ("A:b", "A", "b"), ("A: b", "A", "b"), ("A:\t b c \t", "A", "b c"), ("A:", "A", ""), ("A:  ", "A", ""),
            ("A::b:", "A", ":b:"), ("!#$%&'*+-.^_`|~0aZ: x", "!#$%&'*+-.^_`|~0aZ", "x"), ("A: é", "A", "é"),
        ]
    )
    func reading(line: String, name: String, value: String) throws {
        let field = try FieldLine.field(Array(line.utf8).span)
        #expect(field.name.rawName == name)
        #expect(field.value == value)
    }

    @Test(
        "A line that some would read in another way is refused",
        arguments: [
            (" A: b", HTTPProtocolError.Code.obsoleteLineFolding), ("\tA: b", .obsoleteLineFolding),
            ("A : b", .invalidFieldName),
            ("A\t: b", .invalidFieldName), (": b", .invalidFieldName), ("A b", .invalidFieldName),
            ("A", .invalidFieldName),
            ("A(: b", .invalidFieldName), ("é: b", .invalidFieldName), ("A B: c", .invalidFieldName),
            ("", .invalidFieldName),
            (":path: /", .invalidFieldName),
        ]
    )
    func refusing(line: String, code: HTTPProtocolError.Code) {
        let error = #expect(throws: HTTPProtocolError.self) { try FieldLine.field(Array(line.utf8).span) }
        #expect(error?.code == code)
    }

    @Test("A folded line is added to the last field, and there is none before the first")
    func unfolding() throws {
        var headers = HTTPFields()
        for line in ["A: b", "C:", " ", "\td ", "  e:f"] { try FieldLine.unfold(Array(line.utf8).span, into: &headers) }
        #expect(headers.map(\.value) == ["b", "d e:f"])
        let error = #expect(throws: HTTPProtocolError.self) {
            var headers = HTTPFields()
            try FieldLine.unfold(Array(" a".utf8).span, into: &headers)
        }
        #expect(error?.code == .obsoleteLineFolding)
    }

    @Test("A value that isn't UTF-8 is taken, and kept apart from one that is")
    func latin() throws {
        let line: [UInt8] = Array("A: x".utf8) + [0xE9]
        let field = try FieldLine.field(line.span)
        #expect(field.value == "x\u{FFFD}")
        #expect(field != HTTPField(name: field.name, value: "x\u{FFFD}"))
    }
}

@Suite("Lines that arrive in pieces")
struct LineReaderTests {
    @Test(
        "Lines end in CR LF, and what follows is left for the next",
        arguments: [("\n", [""]), ("a\nbc\n\nd", ["a", "bc", ""]), ("tab\there\n", ["tab\there"]), ("no end", [])]
    )
    func lines(text: String, expected: [String]) {
        let fed = outcome(wire(text), atMost: 64)
        #expect(fed.outputs == expected)
        #expect(fed.failure == nil)
        #expect(fed.taken == wire(text).count)
    }

    @Test(
        "A fault is found at the byte that makes it one",
        arguments: [
            ("ab\ncd", Fault.bareLineBreak, 3), ("ab\rcd", .bareLineBreak, 4), ("a\r\r\n", .bareLineBreak, 3),
            ("\n", .bareLineBreak, 1), ("a\u{0}b", .control(0), 2), ("a\u{7F}", .control(0x7F), 2),
            ("123456789", .tooLong, 9),
            ("1234567\r\n", .tooLong, 9), ("12345678\u{0}", .tooLong, 9),
        ]
    )
    func faults(text: String, fault: Fault, taken: Int) {
        let fed = outcome(Array(text.utf8), atMost: 8)
        #expect(fed.failure == fault)
        #expect(fed.taken == taken)
    }

    @Test("A line may be as long as the bound, its line end included")
    func longest() {
        #expect(outcome(Array("123456\r\n".utf8), atMost: 8).outputs == ["123456"])
    }

    @Test("Text has begun with the first byte that isn't a carriage return")
    func hasText() throws {
        var reader = LineReader()
        var position = 0
        let input: [UInt8] = [0x0D, 0x0A, 0x61]
        #expect(!reader.hasText)
        _ = try reader.read(input.span.extracting(..<1), from: &position, atMost: 8)
        #expect(!reader.hasText)
        _ = try reader.read(input.span.extracting(..<2), from: &position, atMost: 8)
        #expect(!reader.hasText)
        _ = try reader.read(input.span, from: &position, atMost: 8)
        #expect(reader.hasText)
    }

    private func outcome(_ input: [UInt8], atMost bound: Int) -> Fed<String, Fault> {
        expectSameInEverySplit(input) { pieces in
            var reader = LineReader()
            return feed(pieces) { (piece, position) throws(Fault) in
                do throws(LineReader.Fault) {
                    guard let line = try reader.read(piece, from: &position, atMost: bound) else { return nil }
                    switch line {
                    case .inInput(let range): return Grammar.string(piece.extracting(range))
                    case .assembled(let bytes): return String(decoding: bytes, as: UTF8.self)
                    }
                } catch {
                    throw Fault(error)
                }
            }
        }
    }

    /// A reader's fault, made comparable.
    enum Fault: Error, Equatable, Sendable {
        case bareLineBreak
        case control(UInt8)
        case tooLong

        init(_ fault: LineReader.Fault) {
            switch fault {
            case .bareLineBreak: self = .bareLineBreak
            case .control(let byte): self = .control(byte)
            case .tooLong: self = .tooLong
            }
        }
    }
}
