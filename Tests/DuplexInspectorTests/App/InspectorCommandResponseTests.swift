// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("Answers of commands")
struct InspectorCommandResponseTests {
    @Test("Texts, values and tables as the page gets them")
    func json() throws {
        func text(_ answer: InspectorCommandResponse) throws -> String { try CompactJSON.text(of: answer.shown) }
        #expect(try text("a \(1)") == #"{"text":"a 1"}"#)
        #expect(try text(.json(["a": 1])) == #"{"json":"{\n  \"a\" : 1\n}"}"#)
        let table = InspectorCommandResponse.table(columns: ["a", "b"], rows: [["1", "2", "beyond"], ["3"]])
        #expect(try text(table) == #"{"columns":["a","b"],"rows":[["1","2"],["3"]]}"#)
    }

    @Test("What is too long is cut, and said to be")
    func cuts() throws {
        let long = String(repeating: "x", count: 1_048_577)
        #expect(InspectorCommandResponse.text(long).isCut && InspectorCommandResponse.text(long).size == 1_048_576)
        #expect(try InspectorCommandResponse.json(long).isCut)
        let rows = InspectorCommandResponse.table(columns: ["a"], rows: Array(repeating: ["x"], count: 5_001))
        #expect(rows.isCut && rows.shown.cut == true)
        #expect(InspectorCommandResponse.table(columns: ["a"], rows: [[long], ["x"]]).isCut)
        #expect(!InspectorCommandResponse.table(columns: ["a"], rows: [["x"]]).isCut)
    }
}
