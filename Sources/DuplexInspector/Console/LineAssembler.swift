// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// Makes lines out of what comes of a stream in pieces of any size: whole ones, whatever the pieces.
///
/// A line that is longer than the bound is cut there, at the edge of a character, and goes on as another one. What waits for
/// the end of its line is bounded by that, too.
struct LineAssembler {
    /// A line, without its end.
    struct Line: Equatable, Sendable {
        var text: String
        /// Whether it goes on in the next one.
        var isCut = false
    }

    /// How many bytes a line has at most.
    let limit: Int
    private var pending: [UInt8] = []

    /// - Parameter limit: how many bytes a line has at most. Default: 16 KiB.
    init(limit: Int = 16_384) {
        self.limit = max(4, limit)
    }

    /// Whether something waits for the end of its line.
    var isWaiting: Bool { !pending.isEmpty }

    /// Takes a piece.
    ///
    /// - Returns: the lines that it has ended.
    mutating func take(_ bytes: ArraySlice<UInt8>) -> [Line] {
        var lines: [Line] = []
        var rest = bytes
        while let end = rest.firstIndex(of: 0x0A) {
            pending += rest[..<end]
            rest = rest[(end + 1)...]
            cut(into: &lines)
            lines.append(Line(text: Self.text(of: pending, isEnd: true)))
            pending.removeAll(keepingCapacity: true)
        }
        pending += rest
        cut(into: &lines)
        return lines
    }

    /// Gives what waits as a line that is cut: nobody knows whether more comes.
    ///
    /// A character that isn't whole goes on waiting.
    mutating func flush() -> Line? {
        let count = pending.count - Self.openBytes(at: pending.count, in: pending)
        return count > 0 ? takeFirst(count) : nil
    }

    /// Gives what is left at the end.
    mutating func finish() -> Line? {
        if pending.isEmpty { return nil }
        defer { pending = [] }
        return Line(text: Self.text(of: pending, isEnd: true))
    }

    private mutating func cut(into lines: inout [Line]) {
        while pending.count > limit {
            let open = Self.openBytes(at: limit, in: pending)
            // Bytes that no text has are cut anywhere.
            lines.append(takeFirst(limit - (open < limit ? open : 0)))
        }
    }

    private mutating func takeFirst(_ count: Int) -> Line {
        defer { pending.removeFirst(count) }
        return Line(text: Self.text(of: Array(pending.prefix(count)), isEnd: false), isCut: true)
    }

    /// How many bytes before a place belong to a character that goes on behind it; 3 at most.
    private static func openBytes(at end: Int, in bytes: [UInt8]) -> Int {
        for back in 1...3 where back <= end {
            let byte = bytes[end - back]
            switch byte {
            case 0x80...0xBF: continue
            case 0xC2...0xDF: return back < 2 ? back : 0
            case 0xE0...0xEF: return back < 3 ? back : 0
            case 0xF0...0xF4: return back
            default: return 0
            }
        }
        return 0
    }

    // MARK: Text

    /// The text of a line; bytes that aren't UTF-8 are written as numbers.
    private static func text(of bytes: [UInt8], isEnd: Bool) -> String {
        let bytes = isEnd && bytes.last == 0x0D ? bytes.dropLast() : bytes[...]
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        var text = ""
        var parser = Unicode.UTF8.ForwardParser()
        var rest = bytes.makeIterator()
        var position = bytes.startIndex
        while true {
            switch parser.parseScalar(from: &rest) {
            case .valid(let scalar):
                position += scalar.count
                text.unicodeScalars.append(Unicode.UTF8.decode(scalar))
            case .error(let length):
                for byte in bytes[position..<(position + length)] { text += "⟨\(Base16.encode([byte]).uppercased())⟩" }
                position += length
            case .emptyInput: return text
            }
        }
    }
}
