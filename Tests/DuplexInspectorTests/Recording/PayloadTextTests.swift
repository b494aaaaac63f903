// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("A payload for people")
struct PayloadTextTests {
    @Test(
        "Bytes are taken for what they are",
        arguments: [
            ("", .empty), ("hello\n", .text), (#"{"a":1}"#, .json), (" [1, 2]", .json), (#"{"a":"#, .text),
            ("12", .text),
            ("\u{1B}[2J", .hex), ("\u{0}", .hex),
        ] as [(String, PayloadText.Kind)]
    )
    func kinds(text: String, kind: PayloadText.Kind) {
        #expect(PayloadText(RecordedBytes(Array(text.utf8))).kind == kind)
    }

    @Test("Bytes that are CBOR are written in its notation")
    func cbor() {
        let payload = RecordedBytes([0xA1, 0x61, 0x61, 0xF5])
        #expect(PayloadText(payload).text == #"{"a": true}"#)
        #expect(PayloadText(payload).kind == .cbor)
        #expect(PayloadText(RecordedBytes([0x82, 0x01], of: 9)).text == "[1, …")
    }

    @Test("A number alone isn't CBOR, though any byte could be")
    func number() {
        #expect(PayloadText(RecordedBytes([0x01])).kind == .hex)
    }

    @Test("A text message is text, whatever is in it; other opcodes go by their bytes")
    func opcodes() {
        #expect(PayloadText(RecordedBytes([0x1B]), as: .text).kind == .text)
        #expect(PayloadText(RecordedBytes([0x1B]), as: .binary).kind == .hex)
        #expect(PayloadText(RecordedBytes([0xFF]), as: .text).kind == .hex)
    }

    @Test("A close frame is its code and its reason")
    func close() {
        let frame = RecordedFrame(
            number: 0,
            time: 0,
            isOutgoing: true,
            opcode: .close,
            wireLength: 9,
            payload: RecordedBytes([0x03, 0xE9] + Array("bye".utf8))
        )
        #expect(PayloadText(frame) == PayloadText(RecordedBytes([0x03, 0xE9] + Array("bye".utf8)), as: .close))
        #expect(PayloadText(frame).text == "1001 bye")
        #expect(PayloadText(frame).kind == .close)
        #expect(PayloadText(RecordedBytes(), as: .close).kind == .empty)
    }

    @Test("A character that was cut at the end is left out; one that is broken isn't text")
    func cutCharacters() {
        let bytes = Array("aü".utf8.dropLast())
        #expect(PayloadText(RecordedBytes(bytes, of: 3)).text == "a")
        #expect(PayloadText(RecordedBytes(bytes, of: 3)).isCut)
        #expect(PayloadText(RecordedBytes(bytes)).kind == .hex)
    }

    @Test("What was cut may be JSON")
    func cutJSON() {
        #expect(PayloadText(RecordedBytes(Array(#"{"a":"#.utf8), of: 100)).kind == .json)
    }

    @Test("A hex dump has places, digits and characters")
    func hex() {
        let text = PayloadText(RecordedBytes(Array(0..<18)), taken: .hex).text
        let expected = """
            000000  00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f  ................
            000010  10 11                                            ..
            """
        #expect(text == expected)
        #expect(PayloadText(RecordedBytes(Array("A|~".utf8)), taken: .hex).text.hasSuffix("  A|~"))
    }

    @Test("A hex dump is bounded, and says so")
    func hexBound() {
        let payload = RecordedBytes([UInt8](repeating: 0, count: PayloadText.dumped + 1))
        let dump = PayloadText(payload, taken: .hex)
        #expect(dump.isCut)
        #expect(dump.text.split(separator: "\n").count == PayloadText.dumped / 16)
    }

    @Test("Bytes that aren't what they are taken for are shown as hex", arguments: [PayloadText.Kind.text, .cbor])
    func taken(kind: PayloadText.Kind) {
        #expect(PayloadText(RecordedBytes([0xFF]), taken: kind).kind == .hex)
        #expect(PayloadText(RecordedBytes(Array("hi".utf8)), taken: .text).kind == .text)
    }
}
