// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

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
