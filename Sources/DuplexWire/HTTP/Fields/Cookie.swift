// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A cookie as it is kept (RFC 6265 section 5.3).
package struct Cookie: Sendable, Hashable {
    /// The name.
    package let name: String
    /// The value, as it was sent.
    package let value: String
    /// The host that it goes back to, in lower case, and unless ``isHostOnly`` those below it.
    package let domain: String
    /// The path that it goes back to, and those below it.
    package let path: String
    /// Whether it goes to that very host alone.
    package let isHostOnly: Bool
    /// Whether it goes over TLS alone.
    package let isSecure: Bool
    /// When it ends, in seconds since the beginning of 1970; nil for one that lasts as long as the store.
    package let expiry: Int64?

    /// The longest name and value together, as in browsers (RFC 6265 section 6.1).
    static let sizeBound = 4_096
    private static let attributeBound = 1_024

    private struct Attributes {
        var domain: String?
        var path: String?
        var isSecure = false
        var maximumAge: Int64?
        var expires: Int64?
    }

    /// Reads the value of a Set-Cookie field (RFC 6265 sections 5.2 and 5.3).
    ///
    /// It is nil for what is to be ignored: without a name, too long, for a domain that the server doesn't belong to, or
    /// with `Secure` or one of the prefixes `__Secure-` and `__Host-` against their rules (RFC 6265bis sections 5.7 and
    /// 4.1.3).
    ///
    /// - Parameters:
    ///   - text: The value.
    ///   - url: Where it came from.
    ///   - seconds: The time, in seconds since the beginning of 1970.
    package init?(setCookie text: String, from url: WebSocketURL, at seconds: Int64) {
        let parts = text.utf8.split(separator: UInt8(ascii: ";"), maxSplits: 64, omittingEmptySubsequences: false)
        guard let pair = Self.pair(parts[0]), let named = pair.value, !pair.name.isEmpty,
            pair.name.utf8.count + named.utf8.count <= Self.sizeBound,
            (pair.name + named).utf8.allSatisfy({ !Grammar.isControl($0) })
        else { return nil }
        let attributes = Self.attributes(parts.dropFirst(), at: seconds)
        name = pair.name
        value = named
        isSecure = attributes.isSecure
        if isSecure && !url.isSecure { return nil }
        let wanted = attributes.domain ?? ""
        if wanted.isEmpty || wanted == url.host {
            // An address or a name of its own; without the attribute for that host alone.
            domain = url.host
            isHostOnly = wanted.isEmpty || Self.isAddress(url.host)
        } else {
            // There is no list of public suffixes here: only names without a dot are known to be nobody's.
            guard wanted.utf8.contains(UInt8(ascii: ".")), Self.domain(wanted, covers: url.host) else { return nil }
            domain = wanted
            isHostOnly = false
        }
        let given = attributes.path ?? ""
        path = given.hasPrefix("/") ? given : Self.defaultPath(url)
        if let age = attributes.maximumAge {
            expiry = age <= 0 ? Int64.min : seconds.addingReportingOverflow(age).partialValue
        } else {
            expiry = attributes.expires
        }
        if Grammar.matches(name.prefix(9), "__Secure-"), !isSecure { return nil }
        if Grammar.matches(name.prefix(7), "__Host-"), !(isSecure && isHostOnly && path == "/") { return nil }
    }

    /// Whether it goes with a request.
    ///
    /// - Parameters:
    ///   - url: Where the request goes.
    ///   - seconds: The time, in seconds since the beginning of 1970.
    /// - Returns: Whether host, path, security and time allow it (RFC 6265 section 5.4).
    package func isSent(to url: WebSocketURL, at seconds: Int64) -> Bool {
        if isExpired(at: seconds) || (isSecure && !url.isSecure) { return false }
        let hostMatches = domain == url.host || (!isHostOnly && Self.domain(domain, covers: url.host))
        return hostMatches && Self.path(path, covers: Self.requestPath(url))
    }

    /// Whether its time is over.
    func isExpired(at seconds: Int64) -> Bool {
        expiry.map { $0 <= seconds } ?? false
    }

    private static func pair(_ part: Substring.UTF8View) -> (name: String, value: String?)? {
        let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let texts = halves.map { String(Grammar.trimmed(Substring($0))) }
        return (texts[0], texts.count > 1 ? texts[1] : nil)
    }

    private static func attributes(
        _ parts: ArraySlice<Substring.UTF8View>,
        at seconds: Int64
    ) -> Attributes {
        var attributes = Attributes()
        for part in parts {
            guard part.count <= attributeBound, let (name, value) = pair(part) else { continue }
            switch Grammar.lowercased(name) {
            case "secure": attributes.isSecure = true
            case "domain":
                let text = Grammar.lowercased(value ?? "")
                attributes.domain = text.hasPrefix(".") ? String(text.dropFirst()) : text
            case "path": attributes.path = value
            case "max-age": attributes.maximumAge = age(value ?? "") ?? attributes.maximumAge
            case "expires": attributes.expires = CookieDate.seconds(value ?? "") ?? attributes.expires
            default: break
            }
        }
        return attributes
    }

    /// RFC 6265 section 5.2.2; at most 400 days, as RFC 6265bis has it.
    private static func age(_ text: String) -> Int64? {
        let isNegative = text.hasPrefix("-")
        let digits = Array(text.utf8.dropFirst(isNegative ? 1 : 0))
        guard !digits.isEmpty, digits.allSatisfy(Grammar.isDigit) else { return nil }
        if isNegative { return 0 }
        return min(Int64(Grammar.decimal(digits) ?? .max), 400 * 86_400)
    }

    /// RFC 6265 section 5.1.3: addresses have no domains below them.
    private static func domain(_ domain: String, covers host: String) -> Bool {
        host.hasSuffix("." + domain) && !isAddress(host)
    }

    private static func isAddress(_ host: String) -> Bool {
        host.utf8.contains(UInt8(ascii: ":")) || host.utf8.allSatisfy { Grammar.isDigit($0) || $0 == 0x2E }
    }

    private static func requestPath(_ url: WebSocketURL) -> Substring {
        url.requestTarget.prefix { $0 != "?" }
    }

    /// RFC 6265 section 5.1.4: up to the last slash, without it.
    private static func defaultPath(_ url: WebSocketURL) -> String {
        let path = requestPath(url)
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    private static func path(_ path: String, covers request: Substring) -> Bool {
        if request == path { return true }
        guard request.hasPrefix(path) else { return false }
        return path.hasSuffix("/") || request.dropFirst(path.count).hasPrefix("/")
    }
}

extension Cookie: Codable {
    private enum CodingKeys: String, CodingKey {
        case name, value, domain, path, isHostOnly, isSecure, expiry
    }

    /// Reads a cookie that was kept.
    ///
    /// Hazard: what is read is believed, so keep cookies in a place that only the app can write to.
    ///
    /// - Parameter decoder: has an object with the members of the cookie.
    /// - Throws: `DecodingError`, also if the name and the value couldn't be sent: without a name, longer than 4,096 bytes
    ///   together, or with a control character or a semicolon.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        value = try container.decode(String.self, forKey: .value)
        domain = try container.decode(String.self, forKey: .domain)
        path = try container.decode(String.self, forKey: .path)
        isHostOnly = try container.decode(Bool.self, forKey: .isHostOnly)
        isSecure = try container.decode(Bool.self, forKey: .isSecure)
        expiry = try container.decodeIfPresent(Int64.self, forKey: .expiry)
        let isSendable = (name + value).utf8.allSatisfy { !Grammar.isControl($0) && $0 != UInt8(ascii: ";") }
        guard !name.isEmpty, name.utf8.count + value.utf8.count <= Self.sizeBound, isSendable else {
            let message = "A cookie's name and value can't be sent."
            throw DecodingError.dataCorruptedError(forKey: .name, in: container, debugDescription: message)
        }
    }

    /// Writes the cookie as an object with its members.
    ///
    /// - Parameter encoder: gets them.
    /// - Throws: as the encoder does.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(value, forKey: .value)
        try container.encode(domain, forKey: .domain)
        try container.encode(path, forKey: .path)
        try container.encode(isHostOnly, forKey: .isHostOnly)
        try container.encode(isSecure, forKey: .isSecure)
        try container.encodeIfPresent(expiry, forKey: .expiry)
    }
}

/// The cookies that servers have set, within bounds (RFC 6265 section 5.3).
///
/// `Codable`, as a list of cookies, so that they can be kept. The time is handed in. There is no list of public suffixes: a server below `co.uk` may set a cookie for all of
/// `co.uk`, so a store is for servers of your own rather than for browsing.
package struct CookieStore: Sendable, Hashable {
    /// The most cookies of one domain; the oldest goes first, as beyond ``bound`` (RFC 6265 section 6.1).
    package static let domainBound = 50
    /// The most cookies in all.
    package static let bound = 1_000
    /// The most Set-Cookie fields of one answer.
    package static let fieldBound = 50

    /// The cookies, the oldest first.
    package private(set) var cookies: [Cookie] = []

    /// Makes an empty store.
    package init() {}

    /// Takes the cookies of an answer.
    ///
    /// - Parameters:
    ///   - setCookies: The values of its Set-Cookie fields.
    ///   - url: Where it came from.
    ///   - seconds: The time, in seconds since the beginning of 1970.
    package mutating func store(_ setCookies: [String], from url: WebSocketURL, at seconds: Int64) {
        for text in setCookies.prefix(Self.fieldBound) {
            guard let cookie = Cookie(setCookie: text, from: url, at: seconds) else { continue }
            let isSame = { (other: Cookie) in
                other.name == cookie.name && other.domain == cookie.domain && other.path == cookie.path
            }
            // RFC 6265bis section 5.7: what TLS has set isn't replaced without it.
            if !url.isSecure, cookies.contains(where: { isSame($0) && $0.isSecure }) { continue }
            if cookie.isExpired(at: seconds) {
                cookies.removeAll(where: isSame)
            } else if let index = cookies.firstIndex(where: isSame) {
                // It keeps the age of the one before it.
                cookies[index] = cookie
            } else {
                cookies.append(cookie)
            }
            makeRoom(in: cookie.domain, at: seconds)
        }
    }

    /// The value of the Cookie field of a request: longer paths first, then older cookies (RFC 6265 section 5.4).
    ///
    /// - Parameters:
    ///   - url: Where the request goes.
    ///   - seconds: The time, in seconds since the beginning of 1970.
    /// - Returns: nil if there is none to send.
    package func value(for url: WebSocketURL, at seconds: Int64) -> String? {
        let sent = cookies.enumerated().filter { $0.element.isSent(to: url, at: seconds) }
        if sent.isEmpty { return nil }
        let sorted = sent.sorted {
            let (left, right) = ($0.element.path.utf8.count, $1.element.path.utf8.count)
            return left != right ? left > right : $0.offset < $1.offset
        }
        return sorted.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
    }

    /// Forgets all.
    package mutating func removeAll() {
        cookies = []
    }

    /// Adds a cookie that was kept, within the bounds.
    private mutating func add(_ cookie: Cookie) {
        cookies.append(cookie)
        makeRoom(in: cookie.domain, at: .min)
    }

    private mutating func makeRoom(in domain: String, at seconds: Int64) {
        let count = cookies.count { $0.domain == domain }
        guard count > Self.domainBound || cookies.count > Self.bound else { return }
        cookies.removeAll { $0.isExpired(at: seconds) }
        if cookies.count(where: { $0.domain == domain }) > Self.domainBound,
            let oldest = cookies.firstIndex(where: { $0.domain == domain })
        {
            cookies.remove(at: oldest)
        }
        if cookies.count > Self.bound { cookies.removeFirst() }
    }
}

extension CookieStore: Codable {
    /// Reads cookies that were kept, within the bounds: of too many the oldest are left out.
    ///
    /// Expired ones aren't sent, whenever they are read.
    ///
    /// - Parameter decoder: has a list of cookies, the oldest first.
    /// - Throws: `DecodingError`, also if one of them couldn't be sent.
    public init(from decoder: any Decoder) throws {
        self.init()
        for cookie in try decoder.singleValueContainer().decode([Cookie].self) { add(cookie) }
    }

    /// Writes a list of the cookies, the oldest first; those without an expiry, too.
    ///
    /// - Parameter encoder: gets the list.
    /// - Throws: as the encoder does.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(cookies)
    }
}
