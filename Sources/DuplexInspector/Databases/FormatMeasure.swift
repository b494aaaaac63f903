// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How long a text is at least that SQL's `printf` and `format` make.
///
/// Some versions of SQLite write the characters of `%.1000000000c` one by one, for seconds, though they drop all beyond the limit: so
/// they are counted before (<https://sqlite.org/printf.html>).
struct FormatMeasure {
    private static let flags = Array("-+ #!0,".utf8)
    private static let lengths = [UInt8(ascii: "l")]

    private let format: [UInt8]
    /// An argument as SQLite takes it for an integer; 0 beyond the last.
    private let integer: (Int) -> Int64
    private var position = 0
    private var argument = 0

    /// How many characters the substitutions `%c` make.
    ///
    /// - Parameters:
    ///   - format: the format.
    ///   - integer: the argument of that number, from 0, as SQLite takes it for an integer.
    /// - Returns: how many.
    static func characters(of format: [UInt8], _ integer: @escaping (Int) -> Int64) -> UInt64 {
        var measure = FormatMeasure(format: format, integer: integer)
        return measure.characters()
    }

    private init(format: [UInt8], integer: @escaping (Int) -> Int64) {
        self.format = format
        self.integer = integer
    }

    private var next: UInt8? { position < format.count ? format[position] : nil }

    private mutating func characters() -> UInt64 {
        var sum: UInt64 = 0
        while let byte = next {
            position += 1
            if byte == UInt8(ascii: "%") { sum += substitution() }
        }
        return sum
    }

    private mutating func substitution() -> UInt64 {
        skip(Self.flags)
        _ = number()
        var precision: UInt32?
        if next == UInt8(ascii: ".") {
            position += 1
            precision = number()
        }
        skip(Self.lengths)
        guard let kind = next else { return 0 }
        position += 1
        switch kind {
        case UInt8(ascii: "%"), UInt8(ascii: "n"): return 0
        case UInt8(ascii: "c"):
            argument += 1
            return UInt64(max(1, precision ?? 1))
        default:
            argument += 1
            return 0
        }
    }

    private mutating func skip(_ bytes: [UInt8]) {
        while let byte = next, bytes.contains(byte) { position += 1 }
    }

    /// A width or a precision: digits, or the next argument; of a negative one the sign is a flag.
    private mutating func number() -> UInt32 {
        if next == UInt8(ascii: "*") {
            position += 1
            argument += 1
            return Int32(truncatingIfNeeded: integer(argument - 1)).magnitude
        }
        var number: UInt32 = 0
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            number = number &* 10 &+ UInt32(byte - UInt8(ascii: "0"))
            position += 1
        }
        return number & 0x7FFF_FFFF
    }
}
