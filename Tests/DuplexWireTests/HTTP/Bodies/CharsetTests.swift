// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("Charsets")
struct CharsetTests {
    @Test("Each is known by its name and by those that it had before, in any case of letters")
    func names() {
        #expect(Charset.allCases.allSatisfy { Charset(name: $0.rawValue.uppercased()) == $0 })
        #expect(
            ["UTF8", "ASCII", "Latin1", "ISO_8859-1", "cp1252"].map(Charset.init(name:)) == [
                .utf8, .ascii, .latin1, .latin1, .windows1252,
            ]
        )
        #expect(Charset(name: "koi8-r") == nil)
    }

    @Test("A media type names it; UTF-8 is what one means that doesn't, and what isn't known is refused with 415")
    func types() throws {
        #expect(try Charset(of: nil) == .utf8)
        #expect(try Charset(of: "text/plain") == .utf8)
        #expect(try Charset(of: "text/plain; Charset=\"UTF-16\"") == .utf16)
        let error = #expect(throws: HTTPProtocolError.self) { try Charset(of: "text/plain; charset=koi8-r") }
        #expect(error?.status == .unsupportedMediaType)
        #expect(error?.message.contains("koi8-r") == true)
    }

    @Test(
        "Text becomes what it was",
        arguments: [
            (Charset.utf8, [0xC3, 0xA4, 0xF0, 0x9F, 0x98, 0x80], "ä😀"), (.utf8, [0xEF, 0xBB, 0xBF, 0x61], "a"),
            (.ascii, [0x61, 0x7F], "a\u{7F}"), (.latin1, [0xE4, 0x80], "ä\u{80}"),
            (.windows1252, [0xE4, 0x80, 0x9F, 0x81, 0x93], "ä€Ÿ\u{81}“"),
            (.utf16, [0xFF, 0xFE, 0x61, 0x00], "a"), (.utf16, [0xFE, 0xFF, 0x00, 0x61], "a"),
            (.utf16, [0x00, 0x61], "a"), (.utf16BigEndian, [0xD8, 0x3D, 0xDE, 0x00], "😀"),
            (.utf16LittleEndian, [0x3D, 0xD8, 0x00, 0xDE], "😀"), (.utf16, [], ""), (.utf8, [], ""),
        ] as [(Charset, [UInt8], String)]
    )
    func decodes(charset: Charset, bytes: [UInt8], text: String) throws {
        #expect(try charset.decode(bytes).unicodeScalars.elementsEqual(text.unicodeScalars))
    }

    @Test(
        "What stands for no text is refused with 400",
        arguments: [
            (Charset.utf8, [0xC3]), (.utf8, [0xED, 0xA0, 0x80]), (.ascii, [0x80]), (.utf16, [0x61]),
            (.utf16BigEndian, [0xD8, 0x3D]), (.utf16LittleEndian, [0x00, 0xDE]),
        ] as [(Charset, [UInt8])]
    )
    func refuses(charset: Charset, bytes: [UInt8]) {
        let error = #expect(throws: HTTPProtocolError.self) { try charset.decode(bytes) }
        #expect(error?.status == .badRequest)
    }
}
