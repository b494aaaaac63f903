// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("The documents say what the sources say")
struct DocumentTests {
    private static let documents = [
        "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md",
    ]

    // MARK: Snippets

    /// A snippet without the comment that documentation shows above it.
    private static func body(_ snippet: String) -> String {
        let lines = snippet.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.drop { $0.hasPrefix("//") || $0.isEmpty }.joined(separator: "\n").trimmedOfLineEnds
    }

    private var snippets: [String] { Repository.paths(in: "Snippets").filter { $0.hasSuffix(".swift") } }

    @Test("Every snippet is in README.md as it is")
    func readmeShowsSnippets() throws {
        let blocks = Markdown(try Repository.text(of: "README.md")).codeBlocks("swift").map(\.trimmedOfLineEnds)
        #expect(snippets.count >= 2)
        for snippet in snippets {
            #expect(blocks.contains(Self.body(try Repository.text(of: snippet))), "\(snippet)")
        }
    }

    @Test("Every program in README.md is a snippet, and so is compiled")
    func readmeShowsNothingElse() throws {
        let blocks = Markdown(try Repository.text(of: "README.md")).codeBlocks("swift").map(\.trimmedOfLineEnds)
        let bodies = try snippets.map { Self.body(try Repository.text(of: $0)) }
        #expect(blocks.filter { $0.contains("import Duplex") && !bodies.contains($0) } == [])
    }

    @Test("A snippet is twelve lines at most")
    func snippetsAreShort() throws {
        for snippet in snippets {
            let lines = Self.body(try Repository.text(of: snippet)).split(separator: "\n")
            #expect(lines.count <= 12, "\(snippet)")
        }
    }

    // MARK: Limits

    /// One row of the table of limits: its name there, and what the three presets say.
    private static let limits: [(name: String, value: @Sendable (Limits) -> String)] = [
        ("message", { $0.messageSize.description }),
        ("frame", { $0.frameSize.description }),
        ("fragments of one message", { $0.fragments == .max ? "unlimited" : grouped($0.fragments) }),
        ("messages that wait for the app", { "\($0.inboxMessages)" }),
        ("bytes of messages that wait for the app", { $0.inboxBytes.description }),
        ("HTTP head", { $0.headSize.description }),
        ("fields of an HTTP head", { "\($0.headFields)" }),
        ("time to send an HTTP head", { "\($0.headTime.components.seconds) s" }),
        ("HTTP request body", { $0.bodySize.description }),
        (
            "time to send an HTTP request body",
            { "\($0.headTime.components.seconds) s + 1 s per \($0.bodyRate)" }
        ),
    ]

    private static func grouped(_ number: Int) -> String {
        number < 1_000 ? "\(number)" : "\(number / 1_000),\(String("\(1_000 + number % 1_000)".dropFirst()))"
    }

    @Test("The table of limits in README.md has the values of the presets")
    func readmeShowsLimits() throws {
        let table = Markdown(try Repository.text(of: "README.md")).table(under: "### Limits")
        let expected = Self.limits.map { limit in
            [limit.name] + [Limits.internet, .local, .unlimited].map { limit.value($0) }
        }
        #expect(table == expected)
    }

    // MARK: Links and scripts

    @Test("Every link to a file of the repository leads there", arguments: documents)
    func linksLead(document: String) throws {
        let links = Markdown(try Repository.text(of: document)).links
        let files = links.filter { !$0.contains("://") && !$0.hasPrefix("#") }
            .map { String($0.prefix { $0 != "#" }) }
        #expect(files.filter { !Repository.exists($0) } == [])
    }

    @Test("Every script, source and test that a document names is there", arguments: documents)
    func namesLead(document: String) throws {
        let names = Markdown.quoted(try Repository.text(of: document)).flatMap { $0.split(separator: " ") }
        let paths = names.filter { name in
            ["scripts/", ".ci/", "Sources/", "Tests/", "Snippets/", "Benchmarks/"].contains { name.hasPrefix($0) }
                && !name.contains { "*<>…".contains($0) }
        }
        #expect(paths.filter { !Repository.exists(String($0)) } == [])
    }

    @Test("Every test that ARCHITECTURE.md names is there")
    func namedTestsExist() throws {
        let quoted = Markdown.quoted(try Repository.text(of: "ARCHITECTURE.md"))
        let named = quoted.filter { $0.hasSuffix("Tests") && $0.allSatisfy(\.isLetter) && !$0.hasPrefix("Duplex") }
        let suites = Set(
            Repository.tests.compactMap { $0.path.split(separator: "/").last }.map { String($0.dropLast(6)) }
        )
        let folders = Set(Repository.tests.map(\.target))
        #expect(!named.isEmpty)
        #expect(named.filter { !suites.contains($0) && !folders.contains($0) } == [])
    }
}

extension String {
    fileprivate var trimmedOfLineEnds: String {
        let start = firstIndex { !$0.isNewline } ?? endIndex
        let end = lastIndex { !$0.isNewline }.map { index(after: $0) } ?? start
        return String(self[start..<end])
    }
}
