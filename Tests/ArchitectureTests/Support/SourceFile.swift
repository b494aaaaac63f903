// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A source file, as the rules look at it.
struct SourceFile: Sendable {
    /// From the root of the repository, with slashes.
    let path: String
    let text: String
    /// The text without comments and without what stands in literals; line by line as in the file.
    let code: String

    init(path: String, text: String) {
        self.path = path
        self.text = text
        code = CodeStripper.code(of: text)
    }

    /// The folder below `Sources` or `Tests` that the file lies in.
    var target: String {
        let parts = path.split(separator: "/")
        return parts.count > 1 ? String(parts[1]) : ""
    }

    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// The number of lines; an end of line at the end of the file begins no further one.
    var lineCount: Int { lines.count - (text.hasSuffix("\n") ? 1 : 0) }

    /// A word of the code: letters, digits and underscores.
    struct Word: Sendable, Equatable {
        var text: String
        /// From 1.
        var line: Int
        /// Whether a point stands before it.
        var isMember: Bool
    }

    /// The words of the code, in order.
    var words: [Word] {
        var words: [Word] = []
        for (number, line) in code.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            var rest = line
            while let start = rest.firstIndex(where: Self.isWordCharacter) {
                let isMember = start > line.startIndex && line[line.index(before: start)] == "."
                let word = rest[start...].prefix(while: Self.isWordCharacter)
                words.append(Word(text: String(word), line: number + 1, isMember: isMember))
                rest = rest[word.endIndex...]
            }
        }
        return words
    }

    private static func isWordCharacter(_ character: Character) -> Bool {
        character == "_" || character.isLetter || character.isNumber
    }

    // MARK: Imports

    /// An import and where it stands.
    struct Import: Sendable, Equatable {
        var module: String
        var line: Int
    }

    /// The modules that are imported, with any access, attribute or kind of declaration before or behind the word.
    var imports: [Import] {
        let byLine = Dictionary(grouping: words, by: \.line).sorted { $0.key < $1.key }
        return byLine.compactMap { line, words in
            let names = words.map(\.text)
            guard let index = names.firstIndex(of: "import"),
                names[..<index].allSatisfy(Self.beforeImport.contains),
                let module = names[(index + 1)...].first(where: { !Self.importKinds.contains($0) })
            else { return nil }
            return Import(module: module, line: line)
        }
    }

    private static let beforeImport: Set<String> = [
        "public", "package", "internal", "fileprivate", "private", "testable", "preconcurrency", "_exported",
        "_implementationOnly", "_spi",
    ]
    private static let importKinds: Set<String> = [
        "struct", "class", "enum", "protocol", "typealias", "func", "let", "var", "actor",
    ]
}
