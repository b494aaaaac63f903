// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@Suite("Reading a source file")
struct SourceFileTests {
    @Test(
        "Imports are found with whatever stands around them",
        arguments: [
            ("import A", ["A"]),
            ("public import A\npackage import B", ["A", "B"]),
            ("@testable import A", ["A"]),
            ("@preconcurrency private import struct A.B", ["A"]),
            ("import A.B", ["A"]),
            ("// import A\nlet text = \"import B\"", []),
            ("#if canImport(A)\nimport B\n#endif", ["B"]),
        ]
    )
    func findsImports(text: String, modules: [String]) {
        #expect(SourceFile(path: "a.swift", text: text).imports.map(\.module) == modules)
    }

    @Test("Words know their line, and whether they are members")
    func findsWords() {
        let file = SourceFile(path: "a.swift", text: "a.now\n  b_1(now)")
        let expected = [("a", 1, false), ("now", 1, true), ("b_1", 2, false), ("now", 2, false)]
        #expect(file.words == expected.map { SourceFile.Word(text: $0.0, line: $0.1, isMember: $0.2) })
    }

    @Test("The end of line at the end of a file begins no further line", arguments: [("a\nb\n", 2), ("a\nb", 2)])
    func countsLines(text: String, count: Int) {
        #expect(SourceFile(path: "a.swift", text: text).lineCount == count)
    }
}
