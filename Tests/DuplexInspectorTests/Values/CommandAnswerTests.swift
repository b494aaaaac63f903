// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("Answers of commands")
struct CommandAnswerTests {
    @Test("Texts, values and tables as the page gets them")
    func json() throws {
        #expect(("a \(1)" as CommandAnswer).json.text == #"{"text":"a 1"}"#)
        #expect(try CommandAnswer.json(["a": 1]).json.text == #"{"json":"{\n  \"a\" : 1\n}"}"#)
        let table = CommandAnswer.table(columns: ["a", "b"], rows: [["1", "2", "beyond"], ["3"]])
        #expect(table.json.text == #"{"columns":["a","b"],"rows":[["1","2"],["3"]]}"#)
    }

    @Test("What is too long is cut, and said to be")
    func cuts() throws {
        let long = String(repeating: "x", count: 1_048_577)
        #expect(CommandAnswer.text(long).isCut && CommandAnswer.text(long).size == 1_048_576)
        #expect(try CommandAnswer.json(long).isCut)
        let rows = CommandAnswer.table(columns: ["a"], rows: Array(repeating: ["x"], count: 5_001))
        #expect(rows.isCut && rows.json.text.hasSuffix(#","cut":true}"#))
        #expect(CommandAnswer.table(columns: ["a"], rows: [[long], ["x"]]).isCut)
        #expect(!CommandAnswer.table(columns: ["a"], rows: [["x"]]).isCut)
    }
}
