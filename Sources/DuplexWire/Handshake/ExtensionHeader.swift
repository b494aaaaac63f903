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
        var scanner = FieldScanner(value)
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

extension FieldScanner {
    /// `extension = token *( ";" extension-param )`, and the white space behind it.
    fileprivate mutating func offer() -> ExtensionOffer? {
        guard let name = token() else { return nil }
        var parameters: [ExtensionOffer.Parameter] = []
        skipBlanks()
        while skip(";") {
            skipBlanks()
            guard parameters.count < ExtensionHeader.parameterBound, let parameter = extensionParameter() else {
                return nil
            }
            parameters.append(parameter)
            skipBlanks()
        }
        return ExtensionOffer(name, parameters: parameters)
    }

    /// `extension-param = token [ "=" ( token / quoted-string ) ]`.
    private mutating func extensionParameter() -> ExtensionOffer.Parameter? {
        guard let name = token() else { return nil }
        skipBlanks()
        guard skip("=") else { return ExtensionOffer.Parameter(name) }
        skipBlanks()
        // RFC 6455 section 9.1: what a quoted string stands for must be a token, which the initializer checks.
        guard let value = word() else { return nil }
        return ExtensionOffer.Parameter(name, value)
    }
}
