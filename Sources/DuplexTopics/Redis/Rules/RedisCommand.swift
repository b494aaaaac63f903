// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// A command for a Redis server: its name and its arguments.
struct RedisCommand: Sendable, Hashable {
    /// One word of a command.
    enum Word: Sendable, Hashable, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral {
        case text(String)
        case bytes([UInt8])
        case number(Int64)

        init(stringLiteral text: String) {
            self = .text(text)
        }

        init(integerLiteral number: Int64) {
            self = .number(number)
        }

        /// How many bytes it has.
        @inline(__always)
        var count: Int {
            switch self {
            case .text(let text): text.utf8.count
            case .bytes(let bytes): bytes.count
            case .number(let number): Self.digits(of: number.magnitude) + (number < 0 ? 1 : 0)
            }
        }

        @inline(__always)
        static func digits(of number: UInt64) -> Int {
            var rest = number
            var digits = 1
            while rest >= 10 {
                rest /= 10
                digits += 1
            }
            return digits
        }
    }

    /// The name, and what follows it.
    let words: [Word]
    /// How many bytes it is on the wire.
    let encodedCount: Int

    /// Makes a command.
    ///
    /// - Parameter words: its name, and what follows it; one at least.
    init(_ words: [Word]) {
        precondition(!words.isEmpty, "A command of Redis has a name.")
        self.words = words
        encodedCount = words.reduce(Self.headerCount(words.count)) { sum, word in
            sum + Self.headerCount(word.count) + word.count + 2
        }
    }

    /// Makes a command; see ``init(_:)-([Word])``.
    init(_ words: Word...) {
        self.init(words)
    }

    /// The name, for people: the other words may be secret.
    var name: String {
        if case .text(let name)? = words.first { name } else { "a command" }
    }

    private static func headerCount(_ count: Int) -> Int {
        3 + Word.digits(of: UInt64(count))
    }

    /// Appends the command as it is on the wire: an array of bulk strings.
    ///
    /// - Parameter output: has room for ``encodedCount`` bytes.
    func encode(into output: inout OutputRawSpan) {
        Self.append(header: UInt8(ascii: "*"), words.count, to: &output)
        // By a span, which lends each word: a copy would count its references, and takes as long as the rest.
        let words = words.span
        for index in words.indices {
            Self.append(header: UInt8(ascii: "$"), words[index].count, to: &output)
            switch words[index] {
            case .text(let text): output.append(text.utf8.span.raw)
            case .bytes(let bytes): output.append(bytes.span.raw)
            case .number(let number):
                if number < 0 { output.append(UInt8(ascii: "-")) }
                Self.append(number.magnitude, to: &output)
            }
            Self.appendLineEnd(to: &output)
        }
    }

    /// The command as it is on the wire.
    var encoded: [UInt8] {
        [UInt8](room: encodedCount) { encode(into: &$0) }
    }

    private static func append(header: UInt8, _ count: Int, to output: inout OutputRawSpan) {
        output.append(header)
        append(UInt64(count), to: &output)
        appendLineEnd(to: &output)
    }

    private static func append(_ number: UInt64, to output: inout OutputRawSpan) {
        if number >= 10 { append(number / 10, to: &output) }
        output.append(UInt8(ascii: "0") + UInt8(number % 10))
    }

    private static func appendLineEnd(to output: inout OutputRawSpan) {
        output.append(0x0D)
        output.append(0x0A)
    }
}
