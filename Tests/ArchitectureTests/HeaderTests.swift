// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@Suite("Every source says whose it is and under which licence")
struct HeaderTests {
    private static let header = ["SPDX-License-Identifier: Apache-2.0", "Copyright (c) the Duplex authors"]
    private static let endings = [".swift", ".c", ".h", ".py", ".cjs"]

    /// Files that are sent to browsers, which have the first line alone.
    private static let pages = "Sources/CDuplexPages/web/"
    private static let pageEndings = [".html", ".css", ".js", ".svg", ".ts"]

    /// Whether the licence stands in the first two lines.
    private static func hasLicence(_ text: String) -> Bool {
        text.split(separator: "\n").prefix(2).contains { $0.contains(header[0]) }
    }

    /// Whether the two lines stand at the beginning, behind a line that a tool wants first at most.
    private static func hasHeader(_ text: String) -> Bool {
        let lines = text.split(separator: "\n").prefix(3)
        let first = lines.firstIndex { $0.hasSuffix(header[0]) }
        guard let first, first < 2, first + 1 < lines.count else { return false }
        return lines[first + 1].hasSuffix(header[1])
    }

    /// The sources and the scripts.
    ///
    /// Snippets are left out: a comment at the beginning of a snippet is the text that documentation shows above it.
    private var paths: [String] {
        let folders = ["Sources", "Tests", "Benchmarks", "Fuzz/Sources", "scripts"]
        let found = folders.flatMap { Repository.paths(in: $0) }
        return found.filter { path in
            Self.endings.contains { path.hasSuffix($0) } || (path.hasPrefix("scripts/") && !path.contains("."))
        } + ["Package.swift", "Fuzz/Package.swift", "Fuzz/make-seeds", ".ci/run"]
    }

    @Test("No header is missing")
    func noneIsMissing() throws {
        #expect(paths.count > 100)
        #expect(try paths.filter { !Self.hasHeader(try Repository.text(of: $0)) } == [])
    }

    @Test("No page lacks its licence")
    func pagesHaveTheirLicence() throws {
        let files = Repository.paths(in: Self.pages).filter { path in Self.pageEndings.contains(where: path.hasSuffix) }
        #expect(files.count > 80)
        #expect(try files.filter { !Self.hasLicence(try Repository.text(of: $0)) } == [])
    }

    @Test(
        "A header is one where it should be",
        arguments: [
            ("// SPDX-License-Identifier: Apache-2.0\n// Copyright (c) the Duplex authors\n", true),
            ("#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n# Copyright (c) the Duplex authors\n", true),
            ("// SPDX-License-Identifier: Apache-2.0\n", false),
            ("import A\n", false),
            ("", false),
        ]
    )
    func checks(text: String, isGood: Bool) {
        #expect(Self.hasHeader(text) == isGood)
    }
}
