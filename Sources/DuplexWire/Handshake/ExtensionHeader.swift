// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// The field Sec-WebSocket-Extensions (RFC 6455 sections 9.1 and 11.3.2).
public enum ExtensionHeader {
    /// The most extensions in all such fields of a head.
    public static let offerBound = 32
    /// The most parameters of one extension.
    public static let parameterBound = 32

    /// The extensions in all the fields of that name, in their order.
    ///
    /// Empty members of the list are passed over (RFC 9110 section 5.6.1.2). The time taken grows with the length of
    /// the fields and no faster.
    ///
    /// - Parameter fields: The fields of a head.
    /// - Returns: The extensions; none if there is no such field; nil if one of the fields is malformed, is there but
    ///   names no extension, or goes beyond the bounds.
    public static func parse(_ fields: HTTPFields) -> [ExtensionOffer]? {
        guard fields.contains(.secWebSocketExtensions) else { return [] }
        var offers: [ExtensionOffer] = []
        for value in fields[values: .secWebSocketExtensions] {
            // Each field by itself, so that a quoted string can't reach from one into the next.
            guard let parsed = parse(value), offers.count + parsed.count <= offerBound else { return nil }
            offers += parsed
        }
        return offers
    }

    /// The extensions in one field's value, or nil if it is malformed, names no extension, or goes beyond the bounds.
    public static func parse(_ value: String) -> [ExtensionOffer]? {
        var scanner = ExtensionScanner(value)
        var offers: [ExtensionOffer] = []
        repeat {
            scanner.skipBlanks()
            if scanner.isAtEnd || scanner.isAt(",") { continue }
            guard offers.count < offerBound, let offer = scanner.offer() else { return nil }
            offers.append(offer)
        } while scanner.skip(",")
        return scanner.isAtEnd && !offers.isEmpty ? offers : nil
    }

    /// The value of a field with these extensions.
    public static func serialize(_ offers: [ExtensionOffer]) -> String {
        offers.map(\.description).joined(separator: ", ")
    }
}

/// Steps through the value of a field; no byte is looked at more than a few times.
private struct ExtensionScanner {
    private let bytes: [UInt8]
    private var position = 0

    init(_ value: String) {
        bytes = Array(value.utf8)
    }

    var isAtEnd: Bool { position == bytes.count }

    func isAt(_ character: Unicode.Scalar) -> Bool {
        position < bytes.count && bytes[position] == UInt8(ascii: character)
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard isAt(character) else { return false }
        position += 1
        return true
    }

    mutating func skipBlanks() {
        while position < bytes.count, Grammar.isBlank(bytes[position]) { position += 1 }
    }

    /// `extension = token *( ";" extension-param )`, and the white space behind it.
    mutating func offer() -> ExtensionOffer? {
        guard let name = token() else { return nil }
        var parameters: [ExtensionOffer.Parameter] = []
        skipBlanks()
        while skip(";") {
            skipBlanks()
            guard parameters.count < ExtensionHeader.parameterBound, let parameter = parameter() else { return nil }
            parameters.append(parameter)
            skipBlanks()
        }
        return ExtensionOffer(name, parameters: parameters)
    }

    /// `extension-param = token [ "=" ( token / quoted-string ) ]`.
    private mutating func parameter() -> ExtensionOffer.Parameter? {
        guard let name = token() else { return nil }
        skipBlanks()
        guard skip("=") else { return ExtensionOffer.Parameter(name) }
        skipBlanks()
        guard let value = isAt("\"") ? quotedString() : token() else { return nil }
        // RFC 6455 section 9.1: what a quoted string stands for must be a token, which the initializer checks.
        return ExtensionOffer.Parameter(name, value)
    }

    private mutating func token() -> String? {
        let start = position
        while position < bytes.count, Grammar.isTokenByte(bytes[position]) { position += 1 }
        return start < position ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    /// What a quoted string stands for, without its marks and backslashes (RFC 9110 section 5.6.4).
    private mutating func quotedString() -> String? {
        var text: [UInt8] = []
        position += 1
        while position < bytes.count {
            if skip("\"") { return String(decoding: text, as: UTF8.self) }
            if skip("\\"), isAtEnd { return nil }
            text.append(bytes[position])
            position += 1
        }
        return nil
    }
}
