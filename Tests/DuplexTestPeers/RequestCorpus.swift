// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

/// Reads the cases of the corpus; ``RequestCase`` says how they are written.
package struct RequestCorpus {
    /// A line that can't be read.
    package struct Failed: Error {
        package let line: String
    }

    /// The files, one for each family.
    package static let families = [
        "request-lines", "hosts", "fields", "content-lengths", "transfer-encodings", "chunks", "expectations",
        "connections", "pipelines", "cuts",
    ]

    /// All cases of a family.
    package static func cases(of family: String) throws -> [RequestCase] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = folder.appending(path: "ConformanceTests/Corpus/\(family).txt")
        return try cases(in: try String(contentsOf: file, encoding: .utf8))
    }

    /// All cases in a text.
    package static func cases(in text: String) throws -> [RequestCase] {
        var cases: [RequestCase] = []
        for lines in blocks(text) {
            guard let alternatives = lines.first(where: { $0.hasPrefix("each ") }) else {
                cases.append(try read(lines))
                continue
            }
            for alternative in alternatives.dropFirst(5).components(separatedBy: " | ") {
                let value = alternative.trimmingCharacters(in: CharacterSet(charactersIn: " "))
                cases.append(try read(lines.map { $0.replacing("$$", with: value) }))
            }
        }
        return cases
    }

    /// The lines of each case.
    private static func blocks(_ text: String) -> [[String]] {
        var blocks: [[String]] = []
        for line in text.split(separator: "\n").map(String.init) where !line.hasPrefix("#") {
            if line.hasPrefix("case ") { blocks.append([]) }
            blocks[blocks.count - 1].append(line)
        }
        return blocks
    }

    private static func read(_ lines: [String]) throws -> RequestCase {
        var result = RequestCase(name: String(lines[0].dropFirst(5)))
        var hasEnd = false
        for line in lines.dropFirst() where !line.hasPrefix("each ") {
            switch line.prefix(while: { $0 != " " }) {
            case ">": result.add(try bytes(line.dropFirst(2)) + [13, 10])
            case ">>": result.add(try bytes(line.dropFirst(3)))
            case "?": result.steps.append(.wait(Int(line.dropFirst(2)) ?? 100))
            case "cut": result.steps.append(.end)
            case "open", "close":
                hasEnd = true
                result.staysOpen = line == "open"
            case let prefix where prefix.first == "=":
                let count = prefix.count == 1 ? 1 : Int(prefix.dropFirst()) ?? 0
                let answer = try answer(line.dropFirst(prefix.count + 1))
                result.answers += Array(repeating: answer, count: count)
            default: throw Failed(line: line)
            }
        }
        guard hasEnd, result.name.contains("[RFC ") else { throw Failed(line: lines[0]) }
        return result
    }

    private static func answer(_ text: Substring) throws -> RequestCase.Answer {
        let parts = text.split(separator: " ", maxSplits: 1)
        let isTaken = text.hasPrefix("(")
        guard let status = Int(parts[0].filter(\.isNumber)) else { throw Failed(line: String(text)) }
        let request = try parts.dropFirst().first.map { String(decoding: try bytes($0), as: UTF8.self) }
        return RequestCase.Answer(status: status, request: request, isTaken: isTaken)
    }

    /// The bytes that a line spells.
    private static func bytes(_ text: Substring) throws -> [UInt8] {
        var rest = text.utf8[...]
        let bytes = try take(&rest, isNested: false)
        guard rest.isEmpty else { throw Failed(line: String(text)) }
        return bytes
    }

    /// Takes bytes up to the end, or up to the star that ends what is repeated.
    private static func take(_ rest: inout Substring.UTF8View, isNested: Bool) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let byte = rest.first {
            if isNested && byte == UInt8(ascii: "*") { return bytes }
            rest.removeFirst()
            switch byte {
            case UInt8(ascii: "\\"): bytes += try escape(&rest)
            case UInt8(ascii: "{"):
                let piece = try take(&rest, isNested: true)
                let number = rest.dropFirst().prefix { $0 != UInt8(ascii: "}") }
                guard let count = Int(String(number) ?? "") else { throw Failed(line: String(Substring(rest))) }
                rest = rest.dropFirst(number.count + 2)
                for _ in 0..<count { bytes += piece }
            default: bytes.append(byte)
            }
        }
        return bytes
    }

    private static func escape(_ rest: inout Substring.UTF8View) throws -> [UInt8] {
        switch rest.popFirst() {
        case UInt8(ascii: "r"): return [13]
        case UInt8(ascii: "n"): return [10]
        case UInt8(ascii: "t"): return [9]
        case UInt8(ascii: "0"): return [0]
        case UInt8(ascii: "\\"): return [0x5C]
        case UInt8(ascii: "e"): return []
        case UInt8(ascii: "x"):
            let digits = rest.prefix(2)
            rest = rest.dropFirst(2)
            guard let byte = UInt8(String(digits) ?? "", radix: 16) else { break }
            return [byte]
        default: break
        }
        throw Failed(line: "an escape before \(Substring(rest))")
    }
}

extension RequestCase {
    fileprivate mutating func add(_ bytes: [UInt8]) {
        if case .send(let before) = steps.last {
            steps.removeLast()
            return steps.append(.send(before + bytes))
        }
        steps.append(.send(bytes))
    }
}
