// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A cookie that a server sets (RFC 6265 section 4.1, and its revision for `SameSite`).
///
/// By default scripts can't read it, other sites' requests don't carry it, and it ends with the browser's session.
///
/// ```swift
/// response.setCookie(try SetCookie("__Host-session", token, maximumAge: .seconds(86_400), isSecure: true))
/// ```
public struct SetCookie: Sendable, Hashable {
    /// Which requests from pages of other sites carry the cookie.
    public enum SameSite: String, Sendable, Hashable {
        /// None.
        case strict = "Strict"
        /// Those by which somebody comes to the site: following a link.
        case lax = "Lax"
        /// All; browsers take it with `Secure` only.
        case none = "None"
    }

    /// The name: a token.
    package let name: String
    /// The value.
    package let value: String
    /// The path that it is sent back to, and those below it.
    package let path: String
    /// The domain that it is sent back to, and those below it; nil for this host alone.
    package let domain: String?
    /// How long it is kept; nil for as long as the browser's session.
    package let maximumAge: Duration?
    /// Whether it goes over TLS only.
    package let isSecure: Bool
    /// Whether scripts can't read it.
    package let isHTTPOnly: Bool
    /// Which requests from other sites carry it.
    package let sameSite: SameSite

    /// Makes a cookie.
    ///
    /// - Parameters:
    ///   - name: a token (RFC 9110 section 5.6.2). `__Secure-` and `__Host-` at its beginning have browsers hold it to
    ///     `Secure`, and to this host and the path `/`.
    ///   - value: visible ASCII without quotation marks, commas, semicolons and backslashes; encode anything else.
    ///   - path: where it is sent back to, and below. Default: `/`.
    ///   - domain: whose hosts it is sent back to. Default: this host alone.
    ///   - maximumAge: how long it is kept, in whole seconds; zero or less removes it. Default: the browser's session.
    ///   - isSecure: whether it goes over TLS only. Default: false, or what the name or `SameSite=None` asks for.
    ///   - isHTTPOnly: whether scripts can't read it. Default: true.
    ///   - sameSite: which requests from other sites carry it. Default: `.lax`.
    /// - Throws: ``SetCookieError`` for what can't stand in the field, or what browsers would drop.
    public init(
        _ name: String,
        _ value: String,
        path: String = "/",
        domain: String? = nil,
        maximumAge: Duration? = nil,
        isSecure: Bool? = nil,
        isHTTPOnly: Bool = true,
        sameSite: SameSite = .lax
    ) throws(SetCookieError) {
        let isHost = Grammar.matches(name.prefix(7), "__Host-")
        let mustBeSecure = isHost || Grammar.matches(name.prefix(9), "__Secure-") || sameSite == .none
        guard Grammar.isToken(name) else { throw SetCookieError("The name of a cookie is a token.") }
        guard value.utf8.allSatisfy(Self.isValueByte) else {
            throw SetCookieError("The value of the cookie \(name) has a character that can't be in one.")
        }
        guard path.hasPrefix("/"), path.utf8.allSatisfy(Self.isAttributeByte),
            (domain ?? "").utf8.allSatisfy(Self.isAttributeByte)
        else { throw SetCookieError("The path or the domain of the cookie \(name) is none.") }
        guard !mustBeSecure || isSecure != false else {
            throw SetCookieError("Browsers drop the cookie \(name) unless it is secure.")
        }
        guard !isHost || (path == "/" && domain == nil) else {
            throw SetCookieError("Browsers drop the cookie \(name) unless its path is / and it has no domain.")
        }
        guard name.utf8.count + value.utf8.count <= Cookie.sizeBound else {
            throw SetCookieError("Browsers drop the cookie \(name): it is longer than 4,096 bytes.")
        }
        self.name = name
        self.value = value
        self.path = path
        self.domain = domain
        self.maximumAge = maximumAge
        self.isSecure = isSecure ?? mustBeSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
    }

    /// RFC 6265 section 4.1.1.
    private static func isValueByte(_ byte: UInt8) -> Bool {
        Grammar.isVisible(byte) && !"\",;\\".utf8.contains(byte)
    }

    private static func isAttributeByte(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: ";")
    }

    /// The value of a field Set-Cookie.
    public var fieldValue: String {
        var text = "\(name)=\(value); Path=\(path)"
        if let domain { text += "; Domain=\(domain)" }
        if let maximumAge { text += "; Max-Age=\(max(0, maximumAge.components.seconds))" }
        if isSecure { text += "; Secure" }
        if isHTTPOnly { text += "; HttpOnly" }
        return text + "; SameSite=\(sameSite.rawValue)"
    }
}

/// A cookie that can't be set as it is meant.
public struct SetCookieError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, in plain words.
    public let message: String

    init(_ message: String) {
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
