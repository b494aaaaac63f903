// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// One way in which a server or a proxy says that it can be convinced: a scheme and its parameters
/// (RFC 9110 section 11.3).
package struct AuthenticationChallenge: Sendable, Hashable {
    /// The scheme in lower case, such as `basic` or `digest`.
    package let scheme: String
    /// The parameters in their order, their names in lower case, their values without quotation marks.
    package let parameters: [FieldParameter]
    /// What stands after the scheme instead of parameters, such as the base64 of Negotiate; nil where there is none.
    package let token: String?

    /// The most challenges that are read of one head; the others are passed over.
    package static let bound = 16
    /// The most parameters of one challenge; a challenge with more is malformed.
    package static let parameterBound = 32

    /// The value of a parameter; nil if it isn't there, or there twice.
    package subscript(name: String) -> String? {
        let values = parameters.filter { $0.name == name }
        return values.count == 1 ? values.first?.value : nil
    }

    /// The challenges in the values of all fields of one name, in their order.
    ///
    /// Several may stand in one field, with commas between them as between their parameters. What follows a malformed
    /// one in its field is passed over, since its end isn't known.
    ///
    /// - Parameter values: The values of WWW-Authenticate, or of Proxy-Authenticate.
    /// - Returns: The challenges; at most ``bound``.
    package static func parse(_ values: [String]) -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        for value in values {
            var reader = ChallengeReader(value)
            while challenges.count < bound, let challenge = reader.next() { challenges.append(challenge) }
        }
        return challenges
    }
}

/// Reads challenges from a field's value, one after the other.
private struct ChallengeReader {
    private var scanner: FieldScanner

    init(_ value: String) {
        scanner = FieldScanner(value)
    }

    /// The next challenge; nil at the end, and for good behind something malformed.
    mutating func next() -> AuthenticationChallenge? {
        scanner.skipCommas()
        guard let scheme = scheme() else { return fail() }
        scanner.skipBlanks()
        if let token = token68() { return AuthenticationChallenge(scheme: scheme, parameters: [], token: token) }
        var parameters: [FieldParameter] = []
        while !scanner.isAtEnd {
            let before = scanner.position
            scanner.skipCommas()
            if scanner.isAtEnd { break }
            guard let parameter = scanner.parameter() else {
                // A token that no `=` follows is the next challenge's scheme.
                scanner.position = before
                if isScheme() { break }
                return fail()
            }
            parameters.append(parameter)
            guard parameters.count <= AuthenticationChallenge.parameterBound else { return fail() }
            scanner.skipBlanks()
            guard scanner.isAtEnd || scanner.isAt(",") else { return fail() }
        }
        return AuthenticationChallenge(scheme: scheme, parameters: parameters, token: nil)
    }

    private mutating func fail() -> AuthenticationChallenge? {
        scanner.position = scanner.bytes.count
        return nil
    }

    /// A token with a blank, a comma or the end behind it, in lower case.
    private mutating func scheme() -> String? {
        guard let token = scanner.token(), scanner.isAtEnd || scanner.isAtBlank || scanner.isAt(",") else { return nil }
        return Grammar.lowercased(token)
    }

    /// Whether a scheme is what follows the commas.
    private func isScheme() -> Bool {
        var ahead = self
        ahead.scanner.skipCommas()
        return ahead.scheme() != nil
    }

    /// RFC 9110 section 11.2: base64 and the like, up to the comma or the end.
    private mutating func token68() -> String? {
        let bytes = scanner.bytes
        var end = scanner.position
        while end < bytes.count, Self.isToken68Byte(bytes[end]) { end += 1 }
        guard end > scanner.position else { return nil }
        while end < bytes.count, bytes[end] == UInt8(ascii: "=") { end += 1 }
        let text = bytes[scanner.position..<end]
        while end < bytes.count, Grammar.isBlank(bytes[end]) { end += 1 }
        guard end == bytes.count || bytes[end] == UInt8(ascii: ",") else { return nil }
        scanner.position = end
        return String(decoding: text, as: UTF8.self)
    }

    private static func isToken68Byte(_ byte: UInt8) -> Bool {
        Grammar.isLetter(byte) || Grammar.isDigit(byte) || "-._~+/".utf8.contains(byte)
    }
}
