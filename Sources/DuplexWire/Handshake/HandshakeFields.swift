// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

/// The field Sec-WebSocket-Extensions (RFC 6455 sections 9.1 and 11.3.2).
package enum ExtensionHeader {
    /// The most extensions in all such fields of a head.
    package static let offerBound = 32
    /// The most parameters of one extension.
    package static let parameterBound = 32

    /// The extensions in all the fields of that name, in their order.
    ///
    /// Empty members of the list are passed over (RFC 9110 section 5.6.1.2). The time taken grows with the length of
    /// the fields and no faster.
    ///
    /// - Parameter headers: The fields of a head.
    /// - Returns: The extensions; none if there is no such field; nil if one of the fields is malformed, is there but
    ///   names no extension, or goes beyond the bounds.
    package static func parse(_ headers: HTTPFields) -> [ExtensionOffer]? {
        guard headers.contains(.secWebSocketExtensions) else { return [] }
        var offers: [ExtensionOffer] = []
        for value in headers[values: .secWebSocketExtensions] {
            // Each field by itself, so that a quoted string can't reach from one into the next.
            guard let parsed = parse(value), offers.count + parsed.count <= offerBound else { return nil }
            offers += parsed
        }
        return offers
    }

    /// The extensions in one field's value, or nil if it is malformed, names no extension, or goes beyond the bounds.
    package static func parse(_ value: String) -> [ExtensionOffer]? {
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
    package static func serialize(_ offers: [ExtensionOffer]) -> String {
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

/// An extension with its parameters, offered by a client or accepted by a server (RFC 6455 section 9.1).
package struct ExtensionOffer: Sendable, Hashable {
    /// A parameter of an extension.
    package struct Parameter: Sendable, Hashable {
        /// The name; a token.
        package let name: String
        /// The value without quotation marks, a token as well; nil where there is none.
        package let value: String?

        /// Makes a parameter, or is nil if the name or the value isn't a token.
        package init?(_ name: String, _ value: String? = nil) {
            guard Grammar.isToken(name), value.map(Grammar.isToken) ?? true else { return nil }
            self.name = name
            self.value = value
        }
    }

    /// The registered name, such as `permessage-deflate`; a token.
    package let name: String
    /// The parameters in their order; a name may come twice, which the extension itself has to judge.
    package let parameters: [Parameter]

    /// Makes an offer, or is nil if the name isn't a token.
    package init?(_ name: String, parameters: [Parameter] = []) {
        guard Grammar.isToken(name) else { return nil }
        self.name = name
        self.parameters = parameters
    }

    /// Makes an offer with a name that is known to be a token.
    init(token name: String, parameters: [Parameter]) {
        self.name = name
        self.parameters = parameters
    }
}

extension ExtensionOffer: CustomStringConvertible {
    /// The offer as it stands in a field, such as `permessage-deflate; client_max_window_bits=12`.
    package var description: String {
        name + parameters.map { "; " + $0.name + ($0.value.map { "=" + $0 } ?? "") }.joined()
    }
}

/// The field Sec-WebSocket-Protocol of a request (RFC 6455 sections 4.1 and 11.3.4).
package enum SubprotocolHeader {
    /// The most subprotocols in a request.
    package static let bound = 100

    /// The subprotocols in all the fields of that name, in the order of the client's preference.
    ///
    /// - Parameter headers: The fields of a request.
    /// - Returns: The subprotocols; none if there is no such field; nil if a name isn't a token or comes twice, if
    ///   there are more than ``bound``, or if the fields are there but name none.
    package static func parse(_ headers: HTTPFields) -> [String]? {
        guard headers.contains(.secWebSocketProtocol) else { return [] }
        let names = headers[values: .secWebSocketProtocol].flatMap(Grammar.list).map(String.init)
        return !names.isEmpty && isValid(names) ? names : nil
    }

    /// Whether a client may ask for these: each a token and none twice (RFC 6455 section 4.1, item 10).
    ///
    /// Upper and lower case count as different (RFC 6455 section 11.5).
    package static func isValid(_ names: [String]) -> Bool {
        names.count <= bound && names.allSatisfy(Grammar.isToken) && Set(names).count == names.count
    }
}

/// The proof that the other side has read a WebSocket handshake (RFC 6455 sections 1.3 and 4.2.2).
///
/// The client sends 16 random bytes in base64, and the server answers with a digest over them. It keeps caches and
/// servers of other protocols from seeming to agree; it's no secret and proves no identity.
package enum AcceptKey {
    /// A SHA-1 digest: takes any bytes and returns 20 (RFC 3174).
    ///
    /// It is handed in, since this module computes no digests.
    package typealias Digest = @Sendable ([UInt8]) -> [UInt8]

    /// The number of random bytes in a key.
    package static let nonceSize = 16

    /// What every key is joined with before it's digested (RFC 6455 section 1.3).
    private static let identifier = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// The value of Sec-WebSocket-Accept that answers a key.
    ///
    /// - Parameters:
    ///   - key: The value of Sec-WebSocket-Key, without white space around it.
    ///   - digest: SHA-1.
    /// - Returns: The digest in base64.
    package static func acceptValue(for key: String, digest: Digest) -> String {
        Base64.encode(digest(Array(key.utf8) + Array(identifier.utf8)))
    }

    /// The value of Sec-WebSocket-Key for 16 random bytes.
    package static func key(from nonce: [UInt8]) -> String { Base64.encode(nonce) }

    /// Whether the value is 16 bytes in base64 (RFC 6455 section 4.2.1, item 5).
    ///
    /// Padding may be missing, and the bits after the last byte may be any, as in the example of section 4.1.
    package static func isKey(_ value: String) -> Bool {
        // The length comes first, so that a long value is never decoded.
        value.utf8.count <= 24 && Base64.decode(value)?.count == nonceSize
    }
}
