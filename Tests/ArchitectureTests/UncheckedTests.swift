// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

/// What the compiler takes on trust is listed, file by file, and says why beside it.
@Suite("What the compiler doesn't check is listed and explained")
struct UncheckedTests {
    /// The files that may hold `@unchecked Sendable` or `nonisolated(unsafe)`.
    private static let unchecked: Set<String> = [
        "Sources/DuplexDelegates/Queues/DelegateQueue.swift",
        "Sources/DuplexSockets/EventLoop/LoopBound.swift",
        "Sources/DuplexSockets/EventLoop/TLSMemory.swift",
        "Sources/DuplexSockets/System/ProxyLibrary.swift",
        "Sources/DuplexSockets/TLS/PEMReader.swift",
        "Sources/DuplexSockets/TLS/TLSContext.swift",
        "Sources/DuplexSockets/TLS/X509Reference.swift",
        "Sources/DuplexWebSockets/Connection/WebSocket.swift",
        "Sources/DuplexWebSockets/Connection/WebSocketHandler.swift",
    ]
    private static let constructs = ["@unchecked Sendable", "nonisolated(unsafe)", "unowned(unsafe)"]

    private static func lines(of file: SourceFile) -> [Int] {
        guard constructs.contains(where: file.code.contains) else { return [] }
        let lines = file.code.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.filter { index in
            constructs.contains { lines[index].contains($0) } && !restates(lines[index], in: file)
        }
    }

    /// A subclass has to say again what its superclass, explained in the same file, has said.
    private static func restates(_ line: Substring, in file: SourceFile) -> Bool {
        guard let list = line.split(separator: ": ").last, let name = list.split(separator: ",").first,
            name.first?.isUppercase == true
        else { return false }
        return file.code.contains("class \(name): @unchecked Sendable")
    }

    /// Whether a comment stands in one of the three lines above, or the two below.
    private static func isExplained(_ index: Int, in file: SourceFile) -> Bool {
        let lines = file.lines
        let beside = lines[max(0, index - 3)..<min(lines.count, index + 3)]
        return beside.contains { $0.trimmed.hasPrefix("//") }
    }

    /// With the lines that hold such a thing.
    private static let files = (Repository.sources + Repository.tests).map { ($0, lines(of: $0)) }.filter {
        !$0.1.isEmpty
    }

    @Test("Only the files of the list switch checks off, and each of them does")
    func listIsComplete() {
        #expect(Set(Self.files.map(\.0.path)) == Self.unchecked)
    }

    @Test("Each has a comment beside it")
    func everyOneIsExplained() {
        let silent = Self.files.flatMap { file, lines in
            lines.filter { !Self.isExplained($0, in: file) }.map { "\(file.path):\($0 + 1)" }
        }
        #expect(silent == [])
    }

    @Test("docs/Unsafe.md lists the sources that say unsafe, and no others")
    func unsafeFilesAreDocumented() throws {
        let document = Markdown(try Repository.text(of: "docs/Unsafe.md"))
        let listed = document.table(under: "## Where `unsafe` lives").flatMap { Markdown.quoted($0.first ?? "") }
        let actual = Repository.sources.filter { file in file.words.contains { $0.text == "unsafe" } }
        #expect(listed == listed.sorted(), "the table is sorted by path")
        #expect(Set(listed.map { "Sources/" + $0 }) == Set(actual.map(\.path)))
    }

    @Test(
        "The rule finds what isn't explained, and nothing in comments and strings",
        arguments: [
            ("final class A: @unchecked Sendable {}", 1, false),
            ("// Locked.\nfinal class A: @unchecked Sendable {}", 1, true),
            ("nonisolated(unsafe) let a = 1", 1, false),
            ("// @unchecked Sendable\nlet a = \"nonisolated(unsafe)\"", 0, true),
            ("// Why.\nclass A: @unchecked Sendable {}\n\n\n\nclass B: A, @unchecked Sendable {}", 1, true),
            ("// Why.\n\n\n\n\nclass B: A, @unchecked Sendable {}", 1, false),
        ]
    )
    func findsFaults(text: String, count: Int, areExplained: Bool) {
        let file = SourceFile(path: "a.swift", text: text)
        let lines = Self.lines(of: file)
        #expect(lines.count == count)
        #expect(lines.allSatisfy { Self.isExplained($0, in: file) } == areExplained)
    }
}
