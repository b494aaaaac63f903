// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What stands between a pair of braces, and before it.
struct CodeBlock: Sendable, Equatable {
    /// The code since the brace before: the declaration or statement that the block belongs to.
    var header: String
    /// The line of the opening brace, from 1.
    var firstLine: Int
    /// The line of the closing one.
    var lastLine: Int

    var lineCount: Int { lastLine - firstLine + 1 }

    /// Whether the block is the body of a type or an extension, and not of a function, an accessor or a closure.
    var isTypeBody: Bool {
        let words = header.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        return zip(words, words.dropFirst()).contains { keyword, name in
            Self.typeKeywords.contains(keyword) && name.first?.isUppercase == true
        }
    }

    private static let typeKeywords: Set<Substring> = ["class", "struct", "enum", "actor", "extension", "protocol"]

    /// All blocks of a file, the inner ones before those around them.
    ///
    /// - Returns: `nil` when the braces aren't balanced, and nothing can be said of the file.
    static func all(in code: String) -> [CodeBlock]? {
        var blocks: [CodeBlock] = []
        var open: [(header: String, line: Int)] = []
        var header = ""
        var line = 1
        for character in code {
            switch character {
            case "{":
                open.append((header, line))
                header = ""
            case "}":
                guard let start = open.popLast() else { return nil }
                blocks.append(CodeBlock(header: start.header, firstLine: start.line, lastLine: line))
                header = ""
            default:
                if character == "\n" { line += 1 }
                header.append(character)
            }
        }
        return open.isEmpty ? blocks : nil
    }
}
