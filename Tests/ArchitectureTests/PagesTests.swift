// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@Suite("The web pages are compiled in")
struct PagesTests {
    private static let web = "Sources/CDuplexPages/web"
    private static let endings = [".css", ".html", ".js", ".svg"]

    @Test("CDuplexPages.c embeds every file that is served, each under its own path")
    func embedded() throws {
        let source = try Repository.text(of: "Sources/CDuplexPages/CDuplexPages.c")
        let embedded = source.matches(of: /PAGE\("([^"]+)"\)\n#embed "web\/([^"]+)"\n/)
        #expect(embedded.filter { $0.1 != $0.2 }.map(\.1) == [])
        let files = Repository.paths(in: Self.web).filter { path in
            Self.endings.contains(where: path.hasSuffix)
        }
        let names = files.map { $0.dropFirst("\(Self.web)/".count) }
        #expect(embedded.map(\.1) == names, "sorted by path")
    }

    @Test("Modules have no texts of their own: what people read is in the dictionary of the page")
    func texts() throws {
        let paths = Repository.paths(in: Self.web).filter { $0.hasSuffix(".js") }
        let text = /(?:[ {](?:text|label|title|placeholder|alt)|"aria-label"):\s*"[^"]*\p{L}/
        #expect(try paths.filter { try Repository.text(of: $0).contains(text) && !$0.contains("/texts-") } == [])
    }

    @Test("What the markup names is in the dictionary of the page", arguments: ["demo", "inspector", "uploader"])
    func keys(page: String) throws {
        let table = try Repository.text(of: "\(Self.web)/\(page)/texts-en.js")
        let markup = try Repository.text(of: "\(Self.web)/\(page)/index.html")
        let keys = markup.matches(of: /data-(?:text|label|hint|tip|none|say)="([^"]+)"/).map(\.1)
        #expect(!keys.isEmpty)
        #expect(keys.filter { !table.contains("\n    \($0): ") } == [])
    }
}
