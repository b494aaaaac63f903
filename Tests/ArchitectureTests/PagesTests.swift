// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@Suite("The web pages are compiled in")
struct PagesTests {
    private static let endings = [".css", ".html", ".js", ".svg"]

    @Test("CDuplexPages.c embeds every file that is served, each under its own path")
    func embedded() throws {
        let source = try Repository.text(of: "Sources/CDuplexPages/CDuplexPages.c")
        let embedded = source.matches(of: /PAGE\("([^"]+)"\)\n#embed "web\/([^"]+)"\n/)
        #expect(embedded.filter { $0.1 != $0.2 }.map(\.1) == [])
        let files = Repository.paths(in: "Sources/CDuplexPages/web").filter { path in
            Self.endings.contains(where: path.hasSuffix)
        }
        let names = files.map { $0.dropFirst("Sources/CDuplexPages/web/".count) }
        #expect(embedded.map(\.1) == names, "sorted by path")
    }
}
