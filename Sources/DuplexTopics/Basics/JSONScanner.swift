// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Finds and checks values in a text of JSON (RFC 8259) without decoding them: in time that grows with the text alone.
///
/// A decoder that doesn't know the kind of a value tries one after the other, and what fails costs more the deeper it lies.
struct JSONScanner {
    /// How deep arrays and objects may be in each other.
    static let mostLevels = 64

    private let bytes: [UInt8]
    private var position = 0

    init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

    /// Whether the text is one value, with spaces around it.
    static func isValue(_ text: some StringProtocol) -> Bool {
        var scanner = JSONScanner(text)
        guard scanner.pass(levels: mostLevels) else { return false }
        scanner.passSpace()
        return scanner.position == scanner.bytes.count
    }

    /// The whole text, as a place of a value.
    var whole: Range<Int> { 0..<bytes.count }

    /// The members of the object at a place; `nil` if there is none, or something in it isn't JSON or nests too deep.
    func members(at place: Range<Int>) -> [(name: String, place: Range<Int>)]? {
        var scanner = at(place)
        var found: [(name: String, place: Range<Int>)] = []
        let isWhole = scanner.passObject(levels: Self.mostLevels) { name, value in
            guard let name = string(at: name) else { return false }
            found.append((name, value))
            return true
        }
        return isWhole ? found : nil
    }

    /// The elements of the array at a place; `nil` as for members.
    func elements(at place: Range<Int>) -> [Range<Int>]? {
        var scanner = at(place)
        var found: [Range<Int>] = []
        let isWhole = scanner.passArray(levels: Self.mostLevels) { found.append($0) }
        return isWhole ? found : nil
    }

    /// The text of the value at a place, as it stands there.
    func text(at place: Range<Int>) -> String { String(decoding: bytes[place], as: UTF8.self) }

    /// The string at a place; `nil` if it isn't one.
    func string(at place: Range<Int>) -> String? {
        guard place.count >= 2, bytes[place.lowerBound] == UInt8(ascii: "\"") else { return nil }
        let content = bytes[place].dropFirst().dropLast()
        if !content.contains(UInt8(ascii: "\\")) { return String(decoding: content, as: UTF8.self) }
        return try? JSONDecoder().decode(String.self, from: Data(bytes[place]))
    }

    private func at(_ place: Range<Int>) -> JSONScanner {
        var scanner = self
        scanner.position = place.lowerBound
        scanner.passSpace()
        return scanner
    }

    // MARK: Passing over values

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func passSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    /// Passes a byte if it is the next.
    private mutating func pass(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    /// Passes spaces and a value; stops at what isn't one, or nests deeper.
    private mutating func pass(levels: Int) -> Bool {
        passSpace()
        return switch next {
        case UInt8(ascii: "{"): passObject(levels: levels) { _, _ in true }
        case UInt8(ascii: "["): passArray(levels: levels) { _ in }
        case UInt8(ascii: "\""): passString()
        case UInt8(ascii: "t"): pass(word: "true")
        case UInt8(ascii: "f"): pass(word: "false")
        case UInt8(ascii: "n"): pass(word: "null")
        default: passNumber()
        }
    }

    /// Passes a value, and gives its place.
    private mutating func place(levels: Int) -> Range<Int>? {
        passSpace()
        let start = position
        return pass(levels: levels) ? start..<position : nil
    }

    private mutating func pass(word: StaticString) -> Bool {
        let word = word.description.utf8
        guard bytes[position...].starts(with: word) else { return false }
        position += word.count
        return true
    }

    private mutating func passObject(
        levels: Int,
        _ visit: (_ name: Range<Int>, _ value: Range<Int>) -> Bool
    ) -> Bool {
        guard levels > 0, pass("{") else { return false }
        passSpace()
        if pass("}") { return true }
        repeat {
            passSpace()
            let start = position
            guard passString() else { return false }
            let name = start..<position
            passSpace()
            guard pass(":"), let value = place(levels: levels - 1), visit(name, value) else { return false }
            passSpace()
        } while pass(",")
        return pass("}")
    }

    private mutating func passArray(levels: Int, _ visit: (Range<Int>) -> Void) -> Bool {
        guard levels > 0, pass("[") else { return false }
        passSpace()
        if pass("]") { return true }
        repeat {
            guard let value = place(levels: levels - 1) else { return false }
            visit(value)
            passSpace()
        } while pass(",")
        return pass("]")
    }

    /// Section 7; surrogates in pairs only, since others are no text.
    private mutating func passString() -> Bool {
        guard pass("\"") else { return false }
        while let byte = next, byte >= 0x20 {
            position += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte == UInt8(ascii: "\\"), !passEscape() { return false }
        }
        return false
    }

    private mutating func passEscape() -> Bool {
        guard let byte = next else { return false }
        position += 1
        if byte != UInt8(ascii: "u") { return "\"\\/bfnrt".utf8.contains(byte) }
        guard let unit = passUnit() else { return false }
        if !(0xD800...0xDFFF).contains(unit) { return true }
        guard unit < 0xDC00, pass("\\"), pass("u"), let other = passUnit() else { return false }
        return (0xDC00...0xDFFF).contains(other)
    }

    /// Passes four hexadecimal digits.
    private mutating func passUnit() -> UInt16? {
        guard position + 4 <= bytes.count else { return nil }
        let digits = bytes[position..<(position + 4)]
        // A sign would be taken for part of a number.
        guard digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-") else { return nil }
        position += 4
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    /// Section 6.
    private mutating func passNumber() -> Bool {
        _ = pass("-")
        if !pass("0") {
            guard passDigits() else { return false }
        }
        if pass("."), !passDigits() { return false }
        guard pass("e") || pass("E") else { return true }
        if !pass("+") { _ = pass("-") }
        return passDigits()
    }

    /// Passes digits, one at least.
    private mutating func passDigits() -> Bool {
        let start = position
        while let byte = next, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { position += 1 }
        return position > start
    }
}
