// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexWire

@Suite("Checking UTF-8 as it arrives")
struct UTF8ValidatorTests {
    /// Whether the validator takes the bytes as a whole text.
    static func accepts(_ bytes: [UInt8]) -> Bool {
        var validator = UTF8Validator()
        return validator.validate(bytes.span.raw) && validator.isComplete
    }

    static func isValid(_ bytes: [UInt8]) -> Bool {
        String(validating: bytes, as: UTF8.self) != nil
    }

    /// The bytes at which what may follow changes, and one on either side.
    static let boundaries: [UInt8] = [
        0x00, 0x41, 0x7F, 0x80, 0x81, 0x8F, 0x90, 0x91, 0x9F, 0xA0, 0xA1, 0xBF, 0xC0, 0xC1, 0xC2, 0xC3, 0xDF, 0xE0,
        0xE1,
        0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFE, 0xFF,
    ]

    @Test("All texts of one and two bytes are judged as the standard library does")
    func exhaustiveShort() {
        for first in UInt8.min...UInt8.max {
            #expect(Self.accepts([first]) == Self.isValid([first]), "\(first)")
            for second in UInt8.min...UInt8.max where Self.accepts([first, second]) != Self.isValid([first, second]) {
                Issue.record("\([first, second])")
            }
        }
    }

    @Test("Texts of three and four bytes are, at the boundaries of each byte, for every first one above ASCII")
    func exhaustiveLong() {
        let further: [UInt8] = [0x41, 0x7F, 0x80, 0x8F, 0x90, 0xBF, 0xC0, 0xFF]
        for first in UInt8(0x80)...0xFF {
            for second in Self.boundaries {
                for third in further {
                    let three = [first, second, third]
                    if Self.accepts(three) != Self.isValid(three) { Issue.record("\(three)") }
                    for fourth in further where Self.accepts(three + [fourth]) != Self.isValid(three + [fourth]) {
                        Issue.record("\(three + [fourth])")
                    }
                }
            }
        }
    }

    @Test("Every scalar there is is taken")
    func everyScalar() {
        var text = String.UnicodeScalarView()
        for value in UInt32(0)...0x10FFFF {
            if let scalar = Unicode.Scalar(value) { text.append(scalar) }
        }
        #expect(Self.accepts(Array(String(text).utf8)))
    }

    @Test("Surrogates, and what lies beyond the last scalar, aren't")
    func impossibleScalars() {
        for value in 0xD800...0xDFFF {
            let bytes = [0xED, UInt8(0x80 | (value >> 6) & 0x3F), UInt8(0x80 | value & 0x3F)]
            if Self.accepts(bytes) { Issue.record("U+\(String(value, radix: 16))") }
        }
        #expect(Self.accepts([0xF4, 0x8F, 0xBF, 0xBF]))
        #expect(!Self.accepts([0xF4, 0x90, 0x80, 0x80]))
    }

    static let texts: [[UInt8]] = [
        [], Array("plain".utf8), Array("κόσμε".utf8), Array("aé€😀".utf8), Array(repeating: 0x41, count: 100),
        Array(repeating: 0x41, count: 31) + [0xC3, 0xA9] + Array(repeating: 0x41, count: 33),
        [0x41, 0x80], [0xC0, 0x80], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80],
        [0xF4, 0x90, 0x80, 0x80],
        [0xF5, 0x80], [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0xE2, 0x41], [0xF0, 0x9F, 0x98, 0x41],
        Array(repeating: 0x41, count: 40) + [0xFF], Array("κόσμε".utf8) + [0xED, 0xA0, 0x80] + Array("edited".utf8),
    ]

    /// How many bytes were taken before the first impossible one, and whether the text may end there.
    static func judge(_ pieces: [[UInt8]]) -> [Int] {
        var validator = UTF8Validator()
        var taken = 0
        for piece in pieces {
            if !validator.validate(piece.span.raw) { return [-1] }
            taken += piece.count
        }
        return [taken, validator.isComplete ? 1 : 0]
    }

    @Test("The verdict is the same in every split", arguments: texts)
    func splits(text: [UInt8]) {
        let report = SplitVerifier().report(on: text, parse: Self.judge)
        #expect(report.isUniform, "\(report)")
        #expect(Self.accepts(text) == Self.isValid(text))
    }

    @Test("The first impossible byte is refused when it comes, and none before it", arguments: texts)
    func earliest(text: [UInt8]) {
        var validator = UTF8Validator()
        for index in text.indices {
            let accepted = validator.validate([text[index]].span.raw)
            #expect(accepted == Self.isBeginning(Array(text[...index])), "byte \(index)")
            if !accepted { return }
        }
    }

    /// Whether a valid text can begin with the bytes: found by trying, not by the validator's rules.
    private static func isBeginning(_ bytes: [UInt8]) -> Bool {
        let endings: [[UInt8]] = [0x80, 0x90, 0xA0].flatMap { [[$0], [$0, 0x80], [$0, 0x80, 0x80]] }
        return isValid(bytes) || endings.contains { isValid(bytes + $0) }
    }

    @Test("Random bytes, mostly UTF-8, are judged as the standard library does", arguments: UInt64(1)...8)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            var bytes = (0..<Int.random(in: 0...12, using: &generator)).flatMap { _ in Self.character(using: &generator)
            }
            if let place = bytes.indices.randomElement(using: &generator), Bool.random(using: &generator) {
                bytes[place] = Self.boundaries.randomElement(using: &generator) ?? 0xFF
            }
            if Self.accepts(bytes) != Self.isValid(bytes) { Issue.record("\(bytes)") }
        }
    }

    /// A character of one to four bytes, or nothing for a number that is none.
    private static func character(using generator: inout SeededGenerator) -> [UInt8] {
        let shift = UInt32.random(in: 0...16, using: &generator)
        let scalar = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &generator) >> shift)
        return scalar.map { Array(String($0).utf8) } ?? []
    }
}

@Suite("UTF-8, one byte after another")
struct UTF8StatesTests {
    /// One byte on each side of every border that RFC 3629 section 4 draws.
    private static let borders: [UInt8] = [
        0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF,
        0xF0,
        0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
    ]

    private func isValid(_ bytes: [UInt8]) -> Bool {
        var validator = UTF8Validator()
        return validator.validate(bytes.span.raw) && validator.isComplete
    }

    /// Whether the bytes can be the beginning of a valid text, as the standard library judges their continuations.
    private func canBegin(_ bytes: [UInt8]) -> Bool {
        let tails: [[UInt8]] = [
            [], [0x80], [0xBF], [0x80, 0x80], [0xBF, 0x80], [0x80, 0x80, 0x80], [0xBF, 0x80, 0x80],
        ]
        return tails.contains { String(validating: bytes + $0, as: UTF8.self) != nil }
    }

    @Test("Every sequence of two bytes is judged as by the standard library")
    func pairs() {
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                let bytes = [first, second]
                let expected = String(validating: bytes, as: UTF8.self) != nil
                if isValid(bytes) != expected { Issue.record("\(bytes)") }
            }
        }
    }

    @Test("Every sequence of three and four bytes on the borders is judged as by the standard library")
    func borderSequences() {
        for first in Self.borders {
            for second in Self.borders {
                for third in Self.borders {
                    for bytes in [[first, second, third]] + Self.borders.map({ [first, second, third, $0] }) {
                        let expected = String(validating: bytes, as: UTF8.self) != nil
                        if isValid(bytes) != expected { Issue.record("\(bytes)") }
                    }
                }
            }
        }
    }

    @Test("The first byte that no text can have is refused, and none before it")
    func firstImpossibleByte() {
        for first in Self.borders {
            for second in Self.borders {
                for third in Self.borders {
                    let bytes = [first, second, third]
                    for count in 1...3 {
                        let prefix = Array(bytes.prefix(count))
                        var validator = UTF8Validator()
                        if validator.validate(prefix.span.raw) != canBegin(prefix) { Issue.record("\(prefix)") }
                    }
                }
            }
        }
    }

    @Test(
        "A character is judged alike wherever it lies within a block",
        arguments: ["é", "€", "🦊", "\u{7FF}", "\u{FFFF}"]
    )
    func alignment(character: String) {
        for before in 0..<72 {
            for after in [0, 1, 7, 8, 31, 32, 40] {
                let whole =
                    [UInt8](repeating: 0x41, count: before) + character.utf8 + [UInt8](repeating: 0x42, count: after)
                #expect(isValid(whole))
                for index in before..<(before + character.utf8.count) {
                    var broken = whole
                    broken[index] = 0xFF
                    #expect(!isValid(broken))
                    broken.remove(at: index)
                    #expect(!isValid(broken))
                }
            }
        }
    }

    @Test("A text may be cut anywhere, and what follows a refused byte stays refused")
    func splits() {
        let text = Array("Grüße, 世界 🦊 and thirty-two bytes of ASCII behind it, at least".utf8)
        for cut in 0...text.count {
            var validator = UTF8Validator()
            let (head, tail) = (Array(text[..<cut]), Array(text[cut...]))
            let accepted = validator.validate(head.span.raw) && validator.validate(tail.span.raw)
            #expect(accepted && validator.isComplete)
        }
        var refused = UTF8Validator()
        let impossible: [UInt8] = [0xC0]
        let fine: [UInt8] = [0x41]
        let accepted = refused.validate(impossible.span.raw) || refused.validate(fine.span.raw)
        #expect(!accepted)
        #expect(!refused.isComplete)
    }
}
