// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The name of a user and the password.
///
/// Its description shows neither.
public struct PasswordCredentials: Sendable, Hashable, CustomStringConvertible {
    /// The user's name.
    public let user: String
    /// The password.
    public let password: String

    /// Makes a pair.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// Reads what stands before the `@` of a URL: `user:password`, each percent-encoded; a missing password is empty.
    ///
    /// It is nil if the text can't be decoded, or is empty.
    ///
    /// - Parameter userInfo: The text, such as `user:secret` of `wss://user:secret@example.com`.
    package init?(userInfo: String) {
        let parts = userInfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard !userInfo.isEmpty, let user = PercentDecoding.decode(parts[0]),
            let password = PercentDecoding.decode(parts.count > 1 ? parts[1] : "")
        else { return nil }
        self.init(user: user, password: password)
    }

    /// Reads the value of Authorization by the scheme Basic (RFC 7617), in UTF-8.
    ///
    /// It is nil for another scheme, and for what isn't base64, isn't UTF-8, has no colon or has a control character.
    ///
    /// - Parameter value: The value of the field.
    package init?(basic value: String) {
        var scanner = FieldScanner(value)
        guard let scheme = scanner.token(), Grammar.matches(scheme, "basic"), scanner.isAtBlank else { return nil }
        scanner.skipBlanks()
        let rest = Grammar.trimmed(Substring(decoding: scanner.bytes[scanner.position...], as: UTF8.self))
        guard let bytes = Base64.decode(String(rest)), let text = String(validating: bytes, as: UTF8.self),
            Self.isPlain(text), let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        user = String(text[..<colon])
        password = String(text[text.utf8.index(after: colon)...])
    }

    /// The value of Authorization, or of Proxy-Authorization, by the scheme Basic (RFC 7617), in UTF-8.
    ///
    /// Hazard: it is the password, readable by everybody on the way unless TLS hides it.
    ///
    /// - Returns: nil if the name has a colon or either part a control character, which Basic has no way to say
    ///   (RFC 7617 section 2).
    package var basicValue: String? {
        let text = user + ":" + password
        guard !user.utf8.contains(UInt8(ascii: ":")), Self.isPlain(text) else { return nil }
        return "Basic " + Base64.encode(Array(text.utf8))
    }

    /// Whether there is no control character in it.
    static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    /// That there are some.
    public var description: String { "credentials (hidden)" }
}
