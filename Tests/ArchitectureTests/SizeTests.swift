// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@Suite("Functions fit a screen")
struct SizeTests {
    private static let longestFunction = 60

    /// The bodies of functions, accessors and closures that are too long.
    private static func faults(_ file: SourceFile) -> [String] {
        guard let blocks = CodeBlock.all(in: file.code) else { return ["\(file.path): the braces don't balance"] }
        return blocks.filter { !$0.isTypeBody && $0.lineCount > longestFunction }
            .map { "\(file.path):\($0.firstLine): \($0.lineCount) lines" }
    }

    private var files: [SourceFile] { Repository.sources + Repository.tests }

    @Test("No function, accessor or closure is longer than a screen")
    func functionsAreShort() {
        #expect(files.flatMap(Self.faults) == [])
    }

    @Test(
        "A body counts from its brace to its brace; that of a type doesn't count",
        arguments: [
            ("func a() {", 60, 0), ("func a() {", 61, 1), ("var a: Int {", 61, 1), ("struct A {", 61, 0),
            ("func a(isolation actor: isolated (any Actor)?) {", 61, 1), ("extension A where B: C {", 61, 0),
        ]
    )
    func countsLines(opening: String, lines: Int, count: Int) {
        let text = opening + String(repeating: "\n", count: lines - 1) + "}"
        #expect(Self.faults(SourceFile(path: "a.swift", text: text)).count == count)
    }

    @Test("Braces that don't balance are a fault, and not an excuse", arguments: ["func a() {", "}"])
    func findsImbalance(text: String) {
        #expect(Self.faults(SourceFile(path: "a.swift", text: text)).count == 1)
    }
}
