// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import Testing

@Suite("The documents say what the sources say")
struct DocumentTests {
    private static func pages(_ names: [String]) -> [String] { names.map { "docs/\($0).md" } }

    /// What shows programs.
    private static let guides: [String] =
        ["README.md"]
        + pages([
            "WebServer", "WebSockets", "Sockets", "SecuringAServer", "TestingAServer", "Topics", "ATransportOfYourOwn",
            "FromCocoaAsyncSocket",
            "FromCocoaHTTPServer", "FromGCDWebServer", "FromSocketRocket", "FromXPWebSocket", "FromStarscream",
            "FromURLSessionWebSocketTask", "FromHttpServerDebug",
        ])
    private static let structure: [String] =
        ["ARCHITECTURE.md"] + pages(["Internals", "Invariants", "Rooms", "Systems", "Unsafe"])
    private static let documents: [String] =
        guides + structure + pages(["Benchmarks", "Command", "Defaults"])
        + ["CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]

    // MARK: Snippets

    /// A snippet without the comment that documentation shows above it.
    private static func body(_ snippet: String) -> String {
        let lines = snippet.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.drop { $0.hasPrefix("//") || $0.isEmpty }.joined(separator: "\n").trimmedOfLineEnds
    }

    private var snippets: [String] { Repository.paths(in: "Snippets").filter { $0.hasSuffix(".swift") } }

    private static func programs(in documents: [String]) throws -> [String] {
        try documents.flatMap { Markdown(try Repository.text(of: $0)).codeBlocks("swift") }.map(\.trimmedOfLineEnds)
    }

    @Test("Every snippet is in README.md or a guide as it is")
    func documentsShowSnippets() throws {
        let blocks = try Self.programs(in: Self.guides)
        #expect(snippets.count >= 9)
        for snippet in snippets {
            #expect(blocks.contains(Self.body(try Repository.text(of: snippet))), "\(snippet)")
        }
    }

    @Test("Every program in a document is a snippet, and so is compiled")
    func documentsShowNothingElse() throws {
        let blocks = try Self.programs(in: Self.documents)
        let bodies = try snippets.map { Self.body(try Repository.text(of: $0)) }
        #expect(blocks.filter { $0.contains("import Duplex") && !bodies.contains($0) } == [])
    }

    /// Snippets that bring a transport of their own, with their most lines.
    private static let longSnippets = ["Snippets/BlockingClient.swift": 66, "Snippets/ServerInMemory.swift": 106]

    @Test("A snippet is thirty lines at most, but for those that bring a transport")
    func snippetsAreShort() throws {
        for snippet in snippets {
            let lines = Self.body(try Repository.text(of: snippet)).split(separator: "\n")
            #expect(lines.count <= Self.longSnippets[snippet, default: 30], "\(snippet)")
        }
    }

    // MARK: Limits

    /// One row of the table of limits: its name there, and what the three presets say.
    private static let limits: [(name: String, value: @Sendable (ServerLimits) -> String)] = [
        ("message", { $0.messages.messageSize.description }),
        ("frame", { $0.messages.frameSize.description }),
        ("fragments of one message", { $0.messages.fragments == .max ? "unlimited" : grouped($0.messages.fragments) }),
        (
            "time to send a message",
            { limits in
                limits.messages.messageTime
                    .map { "\($0.components.seconds) s + 1 s per \(limits.messages.minimumRate)" } ?? "unlimited"
            }
        ),
        ("messages that wait for the app", { "\($0.messages.inboxMessages)" }),
        ("bytes of messages that wait for the app", { $0.messages.inboxBytes.description }),
        ("HTTP head", { $0.http.headSize.description }),
        ("fields of an HTTP head", { "\($0.http.headFields)" }),
        ("time to send an HTTP head", { "\($0.http.headTime.components.seconds) s" }),
        ("HTTP request body", { $0.http.bodySize.description }),
        (
            "time to send an HTTP request body",
            { "\($0.http.headTime.components.seconds) s + 1 s per \($0.http.bodyRate)" }
        ),
        (
            "connections from one address",
            { $0.connectionsPerAddress == .max ? "unlimited" : grouped($0.connectionsPerAddress) }
        ),
        ("messages in a second", { $0.messages.messageRate.map { grouped($0.count) } ?? "unlimited" }),
        ("bytes of messages in a second", { $0.messages.byteRate.map { grouped($0.count) } ?? "unlimited" }),
    ]

    private static func grouped(_ number: Int) -> String {
        number < 1_000 ? "\(number)" : "\(number / 1_000),\(String("\(1_000 + number % 1_000)".dropFirst()))"
    }

    @Test("The table of limits in docs/Defaults.md has the values of the presets")
    func documentShowsLimits() throws {
        let table = Markdown(try Repository.text(of: "docs/Defaults.md")).table(under: "## Limits")
        let expected = Self.limits.map { limit in
            [limit.name] + [ServerLimits.internet, .local, .unlimited].map { limit.value($0) }
        }
        #expect(table == expected)
    }

    // MARK: Links and scripts

    @Test("Every link to a file of the repository leads there", arguments: documents)
    func linksLead(document: String) throws {
        let links = Markdown(try Repository.text(of: document)).links
        let files = links.filter { !$0.contains("://") && !$0.hasPrefix("#") }
            .map { String($0.prefix { $0 != "#" }) }
        let folder = document.prefix(through: document.lastIndex(of: "/") ?? document.startIndex)
        let place = folder.hasSuffix("/") ? String(folder) : ""
        #expect(files.filter { !Repository.exists(place + $0) } == [])
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

    @Test(
        "Every test that a document names is there",
        arguments: structure + ["docs/FromGCDWebServer.md", "docs/FromCocoaHTTPServer.md"]
    )
    func namedTestsExist(document: String) throws {
        let quoted = Markdown.quoted(try Repository.text(of: document))
        let named = quoted.filter { $0.hasSuffix("Tests") && $0.allSatisfy(\.isLetter) && !$0.hasPrefix("Duplex") }
        let files = Repository.tests.compactMap { $0.path.split(separator: "/").last }.map { String($0.dropLast(6)) }
        let suites = Set(files + Repository.tests.flatMap(\.declarations.types))
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
