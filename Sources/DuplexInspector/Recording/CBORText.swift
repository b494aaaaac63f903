// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// CBOR for people: its diagnostic notation (RFC 8949 section 8).
///
/// Hostile input costs no more than its length: what it claims to hold is never made room for.
struct CBORText {
    /// Why bytes aren't one item of CBOR.
    enum Fault: Error, Equatable, CaseIterable {
        /// They end within an item.
        case ended
        /// Bytes come after the item.
        case trailing
        /// Additional information 28 to 30 (section 3).
        case reserved
        /// Indefinite length where there is none (section 3.2.4).
        case indefinite
        /// A "break" that ends nothing (section 3.2.1), or a key without a value.
        case misplacedBreak
        /// A chunk of an indefinite string that isn't a definite string of its kind (section 3.2.3).
        case chunk
        /// A simple value below 32 in two bytes (section 3.3).
        case simple
        /// A text that isn't UTF-8 (section 5.3.1).
        case text
        /// Items within items, beyond the bound.
        case depth
        /// The notation is longer than the bound.
        case length
    }

    /// How deep items may lie within each other.
    static let deepest = 64
    /// How long the notation may get, in bytes.
    static let longest = 1 << 20

    private let bytes: [UInt8]
    private var position = 0
    private(set) var text = ""

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The notation of one item.
    ///
    /// - Parameter bytes: the item, and nothing else.
    /// - Returns: the notation.
    /// - Throws: ``Fault``.
    static func diagnostic(_ bytes: [UInt8]) throws(Fault) -> String {
        var reader = CBORText(bytes)
        try reader.item(depth: 0)
        if reader.position < bytes.count { throw .trailing }
        return reader.text
    }

    /// The notation of an item of which only the first bytes are there, as far as it goes; `nil` if they aren't CBOR.
    static func beginning(_ bytes: [UInt8]) -> String? {
        var reader = CBORText(bytes)
        do {
            try reader.item(depth: 0)
        } catch {
            return error == .ended || error == .length ? reader.text + "…" : nil
        }
        return nil
    }

    // MARK: Reading

    private mutating func byte() throws(Fault) -> UInt8 {
        guard position < bytes.count else { throw .ended }
        defer { position += 1 }
        return bytes[position]
    }

    /// A number of that many bytes, in network order.
    private mutating func number(of count: Int) throws(Fault) -> UInt64 {
        var value: UInt64 = 0
        for _ in 0..<count { value = value << 8 | UInt64(try byte()) }
        return value
    }

    /// What the head of an item says; `nil` for an indefinite length.
    private mutating func argument(_ information: UInt8) throws(Fault) -> UInt64? {
        switch information {
        case 0..<24: return UInt64(information)
        case 24: return try number(of: 1)
        case 25: return try number(of: 2)
        case 26: return try number(of: 4)
        case 27: return try number(of: 8)
        case 31: return nil
        default: throw .reserved
        }
    }

    private mutating func definite(_ argument: UInt64?) throws(Fault) -> UInt64 {
        guard let argument else { throw .indefinite }
        return argument
    }

    /// Whether a "break" comes next, which is passed over.
    private mutating func isBreak() throws(Fault) -> Bool {
        guard position < bytes.count else { throw .ended }
        guard bytes[position] == 0xFF else { return false }
        position += 1
        return true
    }

    private mutating func write(_ more: String) throws(Fault) {
        text += more
        if text.utf8.count > Self.longest { throw .length }
    }

    // MARK: Items

    private mutating func item(depth: Int) throws(Fault) {
        guard depth < Self.deepest else { throw .depth }
        let head = try byte()
        if head == 0xFF { throw .misplacedBreak }
        let (kind, information) = (head >> 5, head & 0x1F)
        if kind == 7 { return try simple(information) }
        let argument = try argument(information)
        switch kind {
        case 0: try write(String(try definite(argument)))
        case 1: try negative(try definite(argument))
        case 2, 3: try string(kind, argument)
        case 4: try array(argument, depth)
        case 5: try map(argument, depth)
        default:
            try write("\(try definite(argument))(")
            try item(depth: depth + 1)
            try write(")")
        }
    }

    /// -1 - n, which may be beyond 64 bits.
    private mutating func negative(_ value: UInt64) throws(Fault) {
        try write(value == .max ? "-18446744073709551616" : "-\(value + 1)")
    }

    private mutating func string(_ kind: UInt8, _ argument: UInt64?) throws(Fault) {
        if let argument { return try chunk(kind, argument) }
        var isFirst = true
        while try !isBreak() {
            try write(isFirst ? "(_ " : ", ")
            isFirst = false
            let head = try byte()
            guard head >> 5 == kind, let length = try self.argument(head & 0x1F) else { throw .chunk }
            try chunk(kind, length)
        }
        try write(isFirst ? (kind == 2 ? "''_" : "\"\"_") : ")")
    }

    private mutating func chunk(_ kind: UInt8, _ length: UInt64) throws(Fault) {
        let rest = UInt64(bytes.count - position)
        let content = bytes[position..<(position + Int(min(length, rest)))]
        guard length <= rest else {
            position = bytes.count
            let start =
                kind == 2 ? "h'" + Base16.encode(content) : Self.quoted(String(decoding: content, as: UTF8.self))
            try write(start)
            throw .ended
        }
        position += content.count
        if kind == 2 { return try write("h'" + Base16.encode(content) + "'") }
        guard let string = String(validating: content, as: UTF8.self) else { throw .text }
        try write(Self.quoted(string))
    }

    private static func quoted(_ text: String) -> String { JSONText.string(text).text }

    private mutating func array(_ argument: UInt64?, _ depth: Int) throws(Fault) {
        try write(argument == nil ? "[_ " : "[")
        var count: UInt64 = 0
        while try isMore(count, of: argument) {
            if count > 0 { try write(", ") }
            try item(depth: depth + 1)
            count += 1
        }
        try write("]")
    }

    private mutating func map(_ argument: UInt64?, _ depth: Int) throws(Fault) {
        try write(argument == nil ? "{_ " : "{")
        var count: UInt64 = 0
        while try isMore(count, of: argument) {
            if count > 0 { try write(", ") }
            try item(depth: depth + 1)
            try write(": ")
            try item(depth: depth + 1)
            count += 1
        }
        try write("}")
    }

    private mutating func isMore(_ count: UInt64, of total: UInt64?) throws(Fault) -> Bool {
        if let total { return count < total }
        return try !isBreak()
    }

    private mutating func simple(_ information: UInt8) throws(Fault) {
        switch information {
        case 20: try write("false")
        case 21: try write("true")
        case 22: try write("null")
        case 23: try write("undefined")
        case 0..<20: try write("simple(\(information))")
        case 24:
            let value = try byte()
            guard value >= 32 else { throw .simple }
            try write("simple(\(value))")
        case 25: try float(Self.half(UInt16(try number(of: 2))))
        case 26: try float(Double(Float(bitPattern: UInt32(try number(of: 4)))))
        case 27: try float(Double(bitPattern: try number(of: 8)))
        default: throw .reserved
        }
    }

    private mutating func float(_ value: Double) throws(Fault) {
        if value.isNaN { return try write("NaN") }
        if value.isInfinite { return try write(value < 0 ? "-Infinity" : "Infinity") }
        try write("\(value)")
    }

    /// A number of half precision (RFC 8949 appendix D).
    private static func half(_ bits: UInt16) -> Double {
        let (exponent, fraction) = (Int(bits >> 10 & 0x1F), Double(bits & 0x3FF))
        let magnitude: Double =
            switch exponent {
            case 0: fraction / 16_777_216
            case 31: fraction == 0 ? .infinity : .nan
            default: Double(sign: .plus, exponent: exponent - 25, significand: fraction + 1_024)
            }
        return bits & 0x8000 == 0 ? magnitude : -magnitude
    }
}
