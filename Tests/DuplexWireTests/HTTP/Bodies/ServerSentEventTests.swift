// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Server-sent events as they are sent")
struct ServerSentEventTests {
    private static func text(_ event: ServerSentEvent) -> String { String(decoding: event.bytes, as: UTF8.self) }

    @Test("An event has a line for each of its fields, and an empty one behind them")
    func headers() throws {
        #expect(Self.text(try ServerSentEvent("hello")) == "data: hello\n\n")
        let whole = try ServerSentEvent("42", event: "price", id: "7", retry: .milliseconds(1_500))
        #expect(Self.text(whole) == "event: price\nid: 7\nretry: 1500\ndata: 42\n\n")
        #expect(Self.text(try ServerSentEvent(nil, id: "7")) == "id: 7\n\n")
        #expect(Self.text(try ServerSentEvent(nil, retry: .seconds(-1))) == "retry: 0\n\n")
        #expect(Self.text(try ServerSentEvent("", event: "")) == "data: \n\n")
        #expect(Self.text(try ServerSentEvent("x", id: "")) == "id: \ndata: x\n\n")
        #expect(Self.text(try whole.with(id: nil)) == "event: price\nretry: 1500\ndata: 42\n\n")
    }

    @Test(
        "Text of several lines has a line of data for each, whatever its line ends are",
        arguments: [
            ("a\nb", ["a", "b"]), ("a\rb", ["a", "b"]), ("a\r\nb", ["a", "b"]), ("a\n\rb", ["a", "", "b"]),
            ("\n", ["", ""]), ("\r\n", ["", ""]), ("\r", ["", ""]), ("\r\r\n\n", ["", "", "", ""]),
            ("a\n", ["a", ""]), (" a\n b", [" a", " b"]), ("data: x\n\nevent: y", ["data: x", "", "event: y"]),
            ("ä\r\nö\rü\nß", ["ä", "ö", "ü", "ß"]), ("\r\na\rb\nc\r\n\r\nd", ["", "a", "b", "c", "", "d"]),
        ]
    )
    func lines(text: String, lines: [String]) throws {
        let expected = lines.map { "data: \($0)\n" }.joined() + "\n"
        #expect(Self.text(try ServerSentEvent(text)) == expected)
        let comment = String(decoding: ServerSentEvent.comment(text), as: UTF8.self)
        #expect(comment == lines.map { ": \($0)\n" }.joined() + "\n")
    }

    @Test("A type or an id that would break out of its line is refused", arguments: ["\n", "\r", "\r\n", "\0"])
    func injection(end: String) throws {
        let bad = "1\(end)data: forged"
        for make in [
            { try ServerSentEvent("x", event: bad) }, { try ServerSentEvent("x", id: bad) },
            { try ServerSentEvent("x").with(id: bad) },
        ] {
            let error = #expect(throws: EventStreamError.self) { try make() }
            #expect(error?.code == .invalidField)
            #expect(error?.message.utf8.contains { $0 < 0x20 } == false, "it is safe to log")
        }
        // In data it is text.
        #expect(try ServerSentEvent("a\0b").bytes == Array("data: a\0b\n\n".utf8))
    }

    @Test("A comment without text is a colon")
    func comment() {
        #expect(ServerSentEvent.comment() == Array(":\n\n".utf8))
    }
}
