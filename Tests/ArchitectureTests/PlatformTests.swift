// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

/// What one system does otherwise than another is in the files that docs/Systems.md lists, one for each difference.
@Suite("Where systems differ is listed")
struct PlatformTests {
    /// Conditions on the system.
    ///
    /// `canImport(Glibc)` isn't one: it chooses the module that the same function comes from.
    private static let conditions = ["os(", "canImport(Darwin)"]

    private static func differs(_ file: SourceFile) -> Bool {
        file.code.split(separator: "\n").contains { line in
            let line = String(line).trimmed
            return (line.hasPrefix("#if") || line.hasPrefix("#elseif")) && conditions.contains { line.contains($0) }
        }
    }

    @Test("docs/Systems.md lists the sources that ask which system it is, and no others")
    func listIsComplete() throws {
        let document = Markdown(try Repository.text(of: "docs/Systems.md"))
        let listed = document.table(under: "## Where systems differ").flatMap { Markdown.quoted($0.first ?? "") }
        #expect(listed == listed.sorted(), "the table is sorted by path")
        #expect(Set(listed.map { "Sources/" + $0 }) == Set(Repository.sources.filter(Self.differs).map(\.path)))
    }

    @Test(
        "The rule finds conditions on the system, and nothing in comments",
        arguments: [
            ("#if os(Linux)\n#endif", true), ("  #if !os(Linux) && DEBUG\n  #endif", true),
            ("#if canImport(Darwin)\n#endif", true), ("#if canImport(Glibc)\nimport Glibc\n#endif", false),
            ("// #if os(Linux)\nlet a = 1", false),
        ]
    )
    func findsConditions(text: String, differs: Bool) {
        #expect(Self.differs(SourceFile(path: "a.swift", text: text)) == differs)
    }
}
