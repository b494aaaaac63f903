// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("Sec-WebSocket-Extensions")
struct ExtensionHeaderTests {
    @Test(
        "A field is read into extensions with their parameters",
        arguments: [
            ("foo", "foo"), ("foo, bar; baz=2", "foo, bar; baz=2"), ("deflate-stream", "deflate-stream"),
            ("mux; max-channels=4; flow-control, deflate-stream", "mux; max-channels=4; flow-control, deflate-stream"),
            ("private-extension", "private-extension"), (" a ;\tb = c , d ", "a; b=c, d"), ("a; b=\"c\"", "a; b=c"),
            ("a; b=\"\\c\\d\"", "a; b=cd"), (", a,, b ,", "a, b"), ("a; b; b", "a; b; b"),
        ]
    )
    func reading(value: String, expected: String) throws {
        let offers = try #require(ExtensionHeader.parse(value))
        #expect(ExtensionHeader.serialize(offers) == expected)
        #expect(ExtensionHeader.parse(expected) == offers)
    }

    @Test(
        "A malformed field is refused",
        arguments: [
            "", " ", ",", ", ,", ";", "a;", "a; ", "a;;b", "a; b=", "a; =b", "a b", "a; b c", "a; b=c d", "a=b",
            "a; b=\"",
            "a; b=\"c", "a; b=\"c\\", "a; b=\"\"", "a; b=\"c d\"", "a; b=\"c,d\"", "a; b=\"c\"d", "a; b=\"\\\"\"", "é",
            "a; b=é", "a\u{0}", "a; b='c d'", "a/b", "\"a\"",
        ]
    )
    func refusing(value: String) {
        #expect(ExtensionHeader.parse(value) == nil)
    }

    @Test("Several fields are one list, but no string reaches from one into the next")
    func severalFields() {
        #expect(ExtensionHeader.parse(fields("a; b", "c"))?.map(\.name) == ["a", "c"])
        #expect(ExtensionHeader.parse(HTTPFields()) == [])
        #expect(ExtensionHeader.parse(fields("a", "")) == nil)
        #expect(ExtensionHeader.parse(fields("a; b=\"x", "y\"")) == nil)
    }

    @Test("Extensions and parameters are bounded in number")
    func bounds() {
        func list(_ count: Int, _ separator: String) -> String {
            [String](repeating: "a", count: count).joined(separator: separator)
        }
        #expect(ExtensionHeader.parse(list(32, ","))?.count == 32)
        #expect(ExtensionHeader.parse(list(33, ",")) == nil)
        #expect(ExtensionHeader.parse(fields(list(16, ","), list(17, ","))) == nil)
        #expect(ExtensionHeader.parse(list(33, ";"))?.first?.parameters.count == 32)
        #expect(ExtensionHeader.parse(list(34, ";")) == nil)
    }

    private func fields(_ values: String...) -> HTTPFields {
        HTTPFields(values.map { HTTPField(name: .secWebSocketExtensions, value: $0) })
    }
}
