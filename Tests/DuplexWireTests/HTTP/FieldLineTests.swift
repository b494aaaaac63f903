// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
            (" A: b", HTTPError.Code.obsoleteLineFolding), ("\tA: b", .obsoleteLineFolding),
            ("A : b", .invalidFieldName),
            ("A\t: b", .invalidFieldName), (": b", .invalidFieldName), ("A b", .invalidFieldName),
            ("A", .invalidFieldName),
            ("A(: b", .invalidFieldName), ("é: b", .invalidFieldName), ("A B: c", .invalidFieldName),
            ("", .invalidFieldName),
            (":path: /", .invalidFieldName),
        ]
    )
    func refusing(line: String, code: HTTPError.Code) {
        let error = #expect(throws: HTTPError.self) { try FieldLine.field(Array(line.utf8).span) }
        #expect(error?.code == code)
    }

    @Test("A folded line is added to the last field, and there is none before the first")
    func unfolding() throws {
        var fields = HTTPFields()
        for line in ["A: b", "C:", " ", "\td ", "  e:f"] { try FieldLine.unfold(Array(line.utf8).span, into: &fields) }
        #expect(fields.map(\.value) == ["b", "d e:f"])
        let error = #expect(throws: HTTPError.self) {
            var fields = HTTPFields()
            try FieldLine.unfold(Array(" a".utf8).span, into: &fields)
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
