// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Takes out of Swift (or C) text what isn't code: comments, and what stands in string and regex literals.
///
/// What is taken out becomes blanks, and line ends stay, so that every line keeps its number. Interpolations are code. A
/// regex literal is recognised where an expression begins, by the character before it.
struct CodeStripper {
    private let input: [UInt8]
    private var index = 0
    private var output: [UInt8] = []
    private let keepsStrings: Bool

    /// The code of a text.
    ///
    /// - Parameters:
    ///   - text: the text of a file.
    ///   - keepsStrings: whether the content of string literals stays; comments never do.
    /// - Returns: text of the same lines.
    static func code(of text: String, keepsStrings: Bool = false) -> String {
        var stripper = CodeStripper(text, keepsStrings)
        stripper.takeCode(isInterpolation: false)
        return String(decoding: stripper.output, as: UTF8.self)
    }

    private init(_ text: String, _ keepsStrings: Bool) {
        input = Array(text.utf8)
        self.keepsStrings = keepsStrings
        output.reserveCapacity(input.count)
    }

    private mutating func takeCode(isInterpolation: Bool) {
        var depth = 0
        while index < input.count {
            if starts(with: "//") {
                blank(plainBytes(upTo: Self.isNewline))
            } else if starts(with: "/*") {
                takeBlockComment()
            } else if let hashes = hashesBeforeQuote() {
                takeString(hashes)
            } else if isRegexStart {
                takeRegex()
            } else {
                if input[index] == UInt8(ascii: "(") { depth += 1 }
                if input[index] == UInt8(ascii: ")") { depth -= 1 }
                keep()
                if isInterpolation && depth == 0 { return }
                keep(plainBytes(upTo: Self.beginsSomething))
            }
        }
    }

    private mutating func takeBlockComment() {
        var depth = 0
        repeat {
            let change = starts(with: "/*") ? 1 : starts(with: "*/") ? -1 : 0
            depth += change
            blank(change == 0 ? 1 : 2)
        } while depth > 0 && index < input.count
    }

    private mutating func takeString(_ hashes: Int) {
        let marks = String(repeating: "#", count: hashes)
        // Three quotes begin a text of several lines only at the end of a line: `#""""#` is a string of two quotes.
        let quote = starts(with: marks + "\"\"\"\n") ? "\"\"\"" : "\""
        keep(hashes + quote.utf8.count)
        while index < input.count {
            if starts(with: quote + marks) {
                keep(hashes + quote.utf8.count)
                return
            }
            if starts(with: "\\" + marks + "(") {
                blank(1 + hashes)
                takeCode(isInterpolation: true)
            } else {
                takeContent(starts(with: "\\" + marks) ? 2 + hashes : 1)
                takeContent(plainBytes(upTo: Self.mayEndText))
            }
        }
    }

    private mutating func takeContent(_ count: Int) {
        if keepsStrings { keep(count) } else { blank(count) }
    }

    /// A slash where an expression may begin, and no blank behind it.
    private var isRegexStart: Bool {
        guard starts(with: "/"), index + 1 < input.count, input[index + 1] != UInt8(ascii: " ") else { return false }
        let before = output.last { $0 != UInt8(ascii: " ") } ?? newline
        return [UInt8(ascii: "("), UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: ":")].contains(before)
    }

    private mutating func takeRegex() {
        keep()
        while index < input.count, input[index] != newline, input[index] != UInt8(ascii: "/") {
            blank(input[index] == UInt8(ascii: "\\") ? 2 : 1)
        }
        keep()
    }

    // MARK: Bytes

    private let newline = UInt8(ascii: "\n")

    /// The number of marks before a quote at the index; `nil` where no string begins.
    private func hashesBeforeQuote() -> Int? {
        let hashes = input[index...].prefix { $0 == UInt8(ascii: "#") }.count
        guard index + hashes < input.count, input[index + hashes] == UInt8(ascii: "\"") else { return nil }
        return hashes
    }

    private func starts(with text: String) -> Bool {
        input[index...].starts(with: text.utf8)
    }

    private mutating func keep(_ count: Int = 1) {
        let end = min(index + count, input.count)
        output += input[index..<end]
        index = end
    }

    private mutating func blank(_ count: Int = 1) {
        let end = min(index + count, input.count)
        while index < end {
            output.append(input[index] == newline ? newline : UInt8(ascii: " "))
            index += 1
        }
    }

    // Most bytes mean nothing, which a table says: a closer look at each takes a debug build eleven seconds for all files.

    private static let beginsSomething = table(of: "/#\"()")
    private static let mayEndText = table(of: "\"\\#")
    private static let isNewline = table(of: "\n")

    private static func table(of bytes: String) -> [Bool] {
        var table = [Bool](repeating: false, count: 256)
        for byte in bytes.utf8 { table[Int(byte)] = true }
        return table
    }

    /// How many bytes there are before one of a table.
    private func plainBytes(upTo table: [Bool]) -> Int {
        var end = index
        while end < input.count, !table[Int(input[end])] { end += 1 }
        return end - index
    }
}
