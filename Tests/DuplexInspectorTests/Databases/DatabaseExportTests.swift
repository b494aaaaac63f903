// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Foundation
import Testing

@testable import DuplexInspector

@Suite struct DatabaseExportTests {
    private static let rows: [[DatabaseCell]] = [
        [.null, .integer(-5), .real(0.5), .text(Array("a,\"b\"\r\nc".utf8), count: 8), .blob([1, 255], count: 2)],
        [.text([], count: 0), .text(Array("=1+1".utf8), count: 4), .text(Array("@x".utf8), count: 2), .null, .null],
    ]

    private static func text(_ format: DatabaseExport.Format, isGuarded: Bool = true) -> String {
        var export = DatabaseExport(format, columns: ["a", "b", "b", "=d", "e"], isGuarded: isGuarded)
        return export.beginning + rows.map { export.text([$0]) }.joined() + export.end
    }

    @Test("CSV is that of RFC 4180; null is nothing, empty text is quotation marks, and formulas are texts")
    func csv() {
        #expect(
            Self.text(.csv) == "a,b,b:2,'=d,e\r\n,-5,0.5,\"a,\"\"b\"\"\r\nc\",0x01ff\r\n\"\",'=1+1,'@x,,\r\n"
        )
        #expect(Self.text(.csv, isGuarded: false).contains("\r\n\"\",=1+1,@x,,\r\n"))
    }

    @Test("No text that a spreadsheet would run begins with what makes it do so")
    func formulas() {
        for text in ["=cmd|' /C calc'!A0", "+1", "-1+1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "\u{FF1D}1", "\u{FF0B}1"] {
            var export = DatabaseExport(.csv, columns: ["a"])
            let line = export.text([[.text(Array(text.utf8), count: text.utf8.count)]])
            #expect(line.hasPrefix("'") || line.hasPrefix("\"'"), "\(line)")
        }
    }

    @Test("JSON is an array of objects whose members have names of their own")
    func json() throws {
        let value = try JSONSerialization.jsonObject(with: Data(Self.text(.json).utf8))
        let rows = try #require(value as? [[String: Any]])
        #expect(rows.count == 2 && rows[0].count == 5)
        #expect(rows[0]["b"] as? Int == -5 && rows[0]["b:2"] as? Double == 0.5 && rows[0]["a"] is NSNull)
        #expect((rows[0]["e"] as? [String: String]) == ["base64": "Af8="])
        var empty = DatabaseExport(.json, columns: ["a"])
        #expect(empty.beginning + empty.text([]) + empty.end == "[\n]\n")
    }

    @Test("Python's csv reads what was written")
    func python() async throws {
        try await withTestFolder(["rows.csv": Self.text(.csv)]) { root async throws in
            let script =
                "import csv, sys; print([row for row in csv.reader(open(sys.argv[1], newline=''))][1][3].encode())"
            let run = try await ProgramRun(["python3", "-c", script, root + "rows.csv"])
            #expect(run.text == "b'a,\"b\"\\r\\nc'\n")
        }
    }
}
