// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension SourceFile {
    /// What a file declares and extends, by name.
    struct Declarations: Sendable, Equatable {
        /// The types outside of all braces.
        var types: Set<String> = []
        /// The types within others.
        var nestedTypes: Set<String> = []
        /// The types that are extended.
        var extended: Set<String> = []
        /// Whether there is a function outside of all braces.
        var hasFunction = false
    }

    private static let typeKeywords: Set<String> = ["struct", "class", "enum", "actor", "protocol", "typealias"]

    /// The declarations of the file; of an extension of `A.B` the name is `A`.
    var declarations: Declarations {
        var found = Declarations()
        var depth = 0
        var last = ""
        var word = ""
        for character in code + "\n" {
            if character == "_" || character.isLetter || character.isNumber {
                word.append(character)
                continue
            }
            if !word.isEmpty {
                found.take(word, behind: last, depth: depth, Self.typeKeywords)
                last = word
                word = ""
            }
            if character == "{" { depth += 1 }
            if character == "}" { depth -= 1 }
            if !character.isWhitespace { last = "" }
        }
        return found
    }
}

extension SourceFile.Declarations {
    fileprivate mutating func take(_ word: String, behind last: String, depth: Int, _ keywords: Set<String>) {
        if word == "func" && depth == 0 { hasFunction = true }
        guard word.first?.isUppercase == true else { return }
        if last == "extension" {
            extended.insert(word)
        } else if keywords.contains(last) {
            if depth == 0 { types.insert(word) } else { nestedTypes.insert(word) }
        }
    }
}
