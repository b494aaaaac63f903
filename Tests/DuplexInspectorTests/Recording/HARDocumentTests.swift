// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Testing

@testable import DuplexInspector

@Suite("What is read of an archive")
struct HARDocumentTests {
    @Test("A number may be a text", arguments: [("1", 1), ("\"2.5\"", 2.5), ("-1", -1)] as [(String, Double)])
    func numbers(text: String, value: Double) throws {
        #expect(try JSONDecoder().decode(HARDocument.Number.self, from: Data(text.utf8)).value == value)
    }

    @Test(
        "A text that isn't a finite number isn't one",
        arguments: ["\"\"", "\"x\"", "\"nan\"", "\"1e999\"", "true", "[]"]
    )
    func noNumbers(text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(HARDocument.Number.self, from: Data(text.utf8)) }
    }

    @Test("What can't be read in a list hides nothing else")
    func lossy() throws {
        let text = #"[{"name":"a","value":"b"},{"name":"c"},3]"#
        let pairs = try JSONDecoder().decode([HARDocument.Lossy<HARDocument.Pair>].self, from: Data(text.utf8))
        #expect(pairs.map { $0.value?.name } == ["a", nil, nil])
    }
}
