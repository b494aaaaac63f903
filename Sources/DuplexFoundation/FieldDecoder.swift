// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The names and values of a query or a form, as what a value is decoded of.
struct FieldDecoder: Decoder {
    fileprivate let fields: [String: [String]]
    /// The code of errors that are the client's.
    fileprivate let code: HTTPProtocolError.Code

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    private init(_ fields: [String: [String]], _ code: HTTPProtocolError.Code) {
        self.fields = fields
        self.code = code
    }

    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - items: the names and values; several values of a name are an array.
    ///   - code: the code of an error that is the client's.
    /// - Returns: the value.
    /// - Throws: `HTTPProtocolError` with the code and the name for a value that is missing or isn't one of its type.
    ///   `DecodingError.typeMismatch` for a type that no form can have: it has values within values.
    static func decode<Value: Decodable>(
        _ type: Value.Type,
        of items: some Sequence<QueryItems.Item>,
        code: HTTPProtocolError.Code
    ) throws -> Value {
        var fields: [String: [String]] = [:]
        for item in items { fields[item.name, default: []].append(item.value) }
        do {
            return try Value(from: FieldDecoder(fields, code))
        } catch DecodingError.keyNotFound(let key, _) {
            throw HTTPProtocolError(code, NamedValue.missing(key.stringValue))
        } catch DecodingError.typeMismatch(_, let context) where !(context.underlyingError is NestedValue) {
            throw HTTPProtocolError(code, NamedValue.unfit(context.codingPath.last?.stringValue ?? "", Value.self))
        } catch DecodingError.valueNotFound(_, let context), DecodingError.dataCorrupted(let context) {
            // Of a type's own, such as an enumeration without such a case.
            throw HTTPProtocolError(code, NamedValue.unfit(context.codingPath.last?.stringValue ?? "", Value.self))
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(FieldContainer(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw NestedValue.error([Any].self, codingPath)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw NestedValue.error(String.self, codingPath)
    }
}

/// A fault of a type, and none of the client: a form has names and values, and nothing within a value.
private struct NestedValue: Error {
    static func error(_ type: Any.Type, _ path: [any CodingKey]) -> DecodingError {
        let name = path.last.map { "\"\(NamedValue.plain($0.stringValue))\"" } ?? "the whole"
        let text =
            "A query or a form has names with texts, and no values within values: \(name) can't be of such a type"
        return .typeMismatch(
            type,
            DecodingError.Context(codingPath: path, debugDescription: text, underlyingError: NestedValue())
        )
    }
}

/// The fields by the names of a type's properties.
private struct FieldContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: FieldDecoder

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { decoder.fields.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { decoder.fields[key.stringValue] != nil }

    /// Whether a field has no text, so that an optional is nil: browsers send fields that are left empty.
    func decodeNil(forKey key: Key) -> Bool { field(key).decodeNil() }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try field(key).value(type)
    }

    // Without these the standard library's own answer, which throw that no such number can be read.
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try field(key).value(type) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try field(key).value(type) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try field(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try field(key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { decoder }

    func superDecoder(forKey key: Key) -> any Decoder { field(key) }

    private func field(_ key: Key) -> Field {
        Field(key: key, texts: decoder.fields[key.stringValue] ?? [], isElement: false, code: decoder.code)
    }
}

/// A field with its texts: a value of the first one, or an array of all of them.
private struct Field: Decoder, SingleValueDecodingContainer {
    let key: any CodingKey
    let texts: [String]
    /// Whether it is a text of an array.
    let isElement: Bool
    let code: HTTPProtocolError.Code

    var codingPath: [any CodingKey] { [key] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) throws -> KeyedDecodingContainer<NestedKey> {
        throw NestedValue.error([String: Any].self, codingPath)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        if isElement { throw NestedValue.error([Any].self, codingPath) }
        return FieldElements(field: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { texts.allSatisfy(\.isEmpty) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try value(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try value(type) }

    func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let type = type as? any TextReadable.Type else { return try Value(from: self) }
        guard let text = texts.first else { throw HTTPProtocolError(code, NamedValue.missing(key.stringValue)) }
        guard let value = type.read(text) as? Value else {
            throw HTTPProtocolError(code, NamedValue.unfit(key.stringValue, type))
        }
        return value
    }

    func element(_ index: Int) -> Field { Field(key: key, texts: [texts[index]], isElement: true, code: code) }
}

/// The texts of a field as an array.
private struct FieldElements: UnkeyedDecodingContainer {
    let field: Field
    var currentIndex = 0

    var codingPath: [any CodingKey] { field.codingPath }
    var count: Int? { field.texts.count }
    var isAtEnd: Bool { currentIndex == field.texts.count }

    init(field: Field) {
        self.field = field
    }

    private mutating func next() throws -> Field {
        guard !isAtEnd else { throw HTTPProtocolError(field.code, NamedValue.missing(field.key.stringValue)) }
        defer { currentIndex += 1 }
        return field.element(currentIndex)
    }

    func decodeNil() -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().value(type) }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try next().value(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try next().value(type) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }

    mutating func superDecoder() throws -> any Decoder { try next() }
}

// MARK: Values of one text

/// What is read of a text here, and doesn't read itself: of such a type, `init(from:)` asks for a value of the type again.
private protocol TextReadable {
    static func read(_ text: String) -> Self?
}

extension TextReadable where Self: LosslessStringConvertible {
    static func read(_ text: String) -> Self? { NamedValue.read(text, as: Self.self) }
}

extension String: TextReadable {}
extension Bool: TextReadable {}
extension Int: TextReadable {}
extension Int8: TextReadable {}
extension Int16: TextReadable {}
extension Int32: TextReadable {}
extension Int64: TextReadable {}
extension UInt: TextReadable {}
extension UInt8: TextReadable {}
extension UInt16: TextReadable {}
extension UInt32: TextReadable {}
extension UInt64: TextReadable {}
extension Int128: TextReadable {}
extension UInt128: TextReadable {}
extension Double: TextReadable {}
extension Float: TextReadable {}

extension Date: TextReadable {
    fileprivate static func read(_ text: String) -> Date? { ISO8601Text.date(text) ?? ISO8601Text.day(text) }
}

extension Decimal: TextReadable {
    fileprivate static func read(_ text: String) -> Decimal? {
        // Foundation reads past what follows a number.
        guard text.utf8.allSatisfy(isPart), Double(text) != nil, let value = Decimal(string: text), !value.isNaN else {
            return nil
        }
        return value
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."): true
        case UInt8(ascii: "e"), UInt8(ascii: "E"): true
        default: false
        }
    }
}

extension URL: TextReadable {
    fileprivate static func read(_ text: String) -> URL? { URL(string: text) }
}
