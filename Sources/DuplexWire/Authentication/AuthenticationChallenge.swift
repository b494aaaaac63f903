// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// One way in which a server or a proxy says that it can be convinced: a scheme and its parameters
/// (RFC 9110 section 11.3).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The scheme in lower case, such as `basic` or `digest`.
    public let scheme: String
    /// The parameters in their order, their names in lower case, their values without quotation marks.
    public let parameters: [Parameter]
    /// What stands behind the scheme instead of parameters, such as the base64 of Negotiate; nil where there is none.
    public let token: String?

    /// A name and a value.
    public struct Parameter: Sendable, Hashable {
        /// The name in lower case.
        public let name: String
        /// The value without its quotation marks and escapes.
        public let value: String
    }

    /// The most challenges that are read of one head; the others are passed over.
    public static let bound = 16
    /// The most parameters of one challenge; a challenge with more is malformed.
    public static let parameterBound = 32

    /// The value of a parameter; nil if it isn't there, or there twice.
    public subscript(name: String) -> String? {
        let values = parameters.filter { $0.name == name }
        return values.count == 1 ? values.first?.value : nil
    }

    /// The challenges in the values of all fields of one name, in their order.
    ///
    /// Several may stand in one field, with commas between them as between their parameters. What follows a malformed
    /// one in its field is passed over, since its end can't be told.
    ///
    /// - Parameter values: The values of WWW-Authenticate, or of Proxy-Authenticate.
    /// - Returns: The challenges; at most ``bound``.
    public static func parse(_ values: [String]) -> [AuthenticationChallenge] {
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
    private let bytes: [UInt8]
    private var position = 0

    init(_ value: String) {
        bytes = Array(value.utf8)
    }

    /// The next challenge; nil at the end, and for good behind something malformed.
    mutating func next() -> AuthenticationChallenge? {
        skipCommas()
        guard let scheme = token(), position == bytes.count || Grammar.isBlank(bytes[position]) || isAt(",") else {
            return fail()
        }
        skipBlanks()
        var parameters: [AuthenticationChallenge.Parameter] = []
        if let token = token68() {
            return AuthenticationChallenge(scheme: Grammar.lowercased(scheme), parameters: [], token: token)
        }
        while position < bytes.count {
            let before = position
            skipCommas()
            if position == bytes.count { break }
            guard let parameter = parameter() else {
                // A token that no `=` follows is the next challenge's scheme.
                position = before
                if isScheme() { break }
                return fail()
            }
            parameters.append(parameter)
            guard parameters.count <= AuthenticationChallenge.parameterBound else { return fail() }
            skipBlanks()
            guard position == bytes.count || isAt(",") else { return fail() }
        }
        return AuthenticationChallenge(scheme: Grammar.lowercased(scheme), parameters: parameters, token: nil)
    }

    private mutating func fail() -> AuthenticationChallenge? {
        position = bytes.count
        return nil
    }

    private func isAt(_ character: Unicode.Scalar) -> Bool {
        position < bytes.count && bytes[position] == UInt8(ascii: character)
    }

    private mutating func skipBlanks() {
        while position < bytes.count, Grammar.isBlank(bytes[position]) { position += 1 }
    }

    /// RFC 9110 section 5.6.1.2: empty members of a list are passed over.
    private mutating func skipCommas() {
        while position < bytes.count, Grammar.isBlank(bytes[position]) || isAt(",") { position += 1 }
    }

    private mutating func token() -> String? {
        let start = position
        while position < bytes.count, Grammar.isTokenByte(bytes[position]) { position += 1 }
        return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    /// Whether a scheme is what follows the commas.
    private func isScheme() -> Bool {
        var ahead = self
        ahead.skipCommas()
        guard ahead.token() != nil else { return false }
        return ahead.position == bytes.count || Grammar.isBlank(bytes[ahead.position]) || ahead.isAt(",")
    }

    /// RFC 9110 section 11.2: base64 and the like, up to the comma or the end.
    private mutating func token68() -> String? {
        var end = position
        while end < bytes.count, Self.isToken68Byte(bytes[end]) { end += 1 }
        guard end > position else { return nil }
        while end < bytes.count, bytes[end] == UInt8(ascii: "=") { end += 1 }
        let text = bytes[position..<end]
        while end < bytes.count, Grammar.isBlank(bytes[end]) { end += 1 }
        guard end == bytes.count || bytes[end] == UInt8(ascii: ",") else { return nil }
        position = end
        return String(decoding: text, as: UTF8.self)
    }

    private static func isToken68Byte(_ byte: UInt8) -> Bool {
        Grammar.isLetter(byte) || Grammar.isDigit(byte) || "-._~+/".utf8.contains(byte)
    }

    private mutating func parameter() -> AuthenticationChallenge.Parameter? {
        guard let name = token() else { return nil }
        skipBlanks()
        guard isAt("=") else { return nil }
        position += 1
        skipBlanks()
        guard let value = isAt("\"") ? quoted() : token() else { return nil }
        return AuthenticationChallenge.Parameter(name: Grammar.lowercased(name), value: value)
    }

    /// RFC 9110 section 5.6.4.
    private mutating func quoted() -> String? {
        var value: [UInt8] = []
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: value, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard position < bytes.count else { return nil }
                value.append(bytes[position])
                position += 1
            default: value.append(byte)
            }
        }
        return nil
    }
}
