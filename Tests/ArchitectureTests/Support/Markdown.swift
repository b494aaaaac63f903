// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What the tests read out of a Markdown document.
struct Markdown: Sendable {
    private let lines: [String]

    init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    }

    /// The contents of the fenced blocks of one language.
    func codeBlocks(_ language: String) -> [String] {
        var blocks: [String] = []
        var current: [String]?
        for line in lines {
            if let block = current {
                current = line == "```" ? nil : block + [line]
                if current == nil { blocks.append(block.joined(separator: "\n")) }
            } else if line == "```" + language {
                current = []
            }
        }
        return blocks
    }

    /// The rows of the table below a heading, cell by cell; without the head of the table.
    func table(under heading: String) -> [[String]] {
        let section = lines.drop { $0 != heading }.dropFirst().prefix { !$0.hasPrefix("#") }
        return section.filter { $0.hasPrefix("|") }.dropFirst(2).map { line in
            line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
                .map { String($0.trimmed) }
        }
    }

    /// What stands between backquotes in a text.
    static func quoted(_ text: String) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    /// The targets of links in the text, fenced blocks left out.
    var links: [String] {
        var isFenced = false
        return lines.flatMap { line -> [String] in
            if line.hasPrefix("```") { isFenced.toggle() }
            if isFenced { return [] }
            return line.components(between: "](", and: ")")
        }
    }
}

extension StringProtocol {
    /// The text without the blanks around it.
    var trimmed: SubSequence {
        let start = firstIndex { $0 != " " } ?? endIndex
        let end = lastIndex { $0 != " " }.map { index(after: $0) } ?? start
        return self[start..<end]
    }

    fileprivate func components(between opening: String, and closing: Character) -> [String] {
        var found: [String] = []
        var rest = self[startIndex...]
        while let range = rest.firstRange(of: opening) {
            let target = rest[range.upperBound...].prefix { $0 != closing }
            found.append(String(target))
            rest = rest[target.endIndex...]
        }
        return found
    }
}
