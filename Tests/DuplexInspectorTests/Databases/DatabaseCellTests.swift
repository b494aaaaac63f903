// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexWire
import GRDB
import Testing

@testable import DuplexInspector

@Suite struct DatabaseCellTests {
    private static func cells(_ sql: String, keeping limit: Int = 100) throws -> [DatabaseCell] {
        try DatabaseQueue().inDatabase { database throws in
            let limits = DatabaseResult.Limits(rows: 1, cell: limit, bytes: .max)
            return try DatabaseResult(try database.makeStatement(sql: sql), limits).rows[0]
        }
    }

    @Test("Each kind of value is read as what it is")
    func kinds() throws {
        let cells = try Self.cells(
            "SELECT NULL, 9223372036854775807, 0.5, 'text', x'00ff', '', x'', CAST(x'610062' AS TEXT)"
        )
        #expect(
            cells == [
                .null, .integer(.max), .real(0.5), .text(Array("text".utf8), count: 4), .blob([0, 255], count: 2),
                .text([], count: 0), .blob([], count: 0), .text([0x61, 0, 0x62], count: 3),
            ]
        )
        #expect(cells.map(\.text) == ["", "9223372036854775807", "0.5", "text", "00ff", "", "", "a\u{0}b"])
    }

    @Test("Of a long value the beginning is kept, in whole characters, with its length")
    func long() throws {
        let cells = try Self.cells("SELECT 'ab€cd', zeroblob(1000), '€€'", keeping: 4)
        #expect(cells[0] == .text([0x61, 0x62, 0xE2, 0x82], count: 7))
        #expect(cells[0].text == "ab")
        #expect(cells[1] == .blob([0, 0, 0, 0], count: 1_000))
        #expect(cells[2].text == "€")
    }

    @Test("Text that is no UTF-8 is shown as far as it is")
    func broken() throws {
        #expect(try Self.cells("SELECT CAST(x'61ff62' AS TEXT)")[0].text == "a\u{FFFD}b")
    }

    @Test("Numbers go to the page as texts, which have all their digits")
    func json() throws {
        let json = try CompactJSON.text(of: Self.cells("SELECT 9007199254740993, 'a', x'01', NULL").map(\.json))
        let cells: [DatabaseCell.JSON?] = try CompactJSON.value(of: json)
        #expect(
            cells == [
                .init(kind: "integer", text: "9007199254740993"), .init(kind: "text", text: "a"),
                .init(kind: "blob", size: 1, text: "01"), nil,
            ]
        )
    }

    @Test("Pictures are known by their first bytes, and what may hold scripts is none")
    func images() {
        #expect(DatabaseCell.image(DatabaseFixture.png) == "image/png")
        #expect(DatabaseCell.image([0xFF, 0xD8, 0xFF, 0xE0]) == "image/jpeg")
        #expect(DatabaseCell.image(Array("GIF89a…".utf8)) == "image/gif")
        #expect(DatabaseCell.image(Array("RIFF1234WEBPVP8 ".utf8)) == "image/webp")
        for text in ["<svg onload=alert(1)>", "<html>", "RIFF1234WAVE", "GIF90a", "%PDF-1.7", ""] {
            #expect(DatabaseCell.image(Array(text.utf8)) == nil)
        }
    }
}
