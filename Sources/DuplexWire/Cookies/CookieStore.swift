// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The cookies that servers have set, within bounds (RFC 6265 section 5.3).
///
/// The time is handed in. There is no list of public suffixes: a server below `co.uk` may set a cookie for all of
/// `co.uk`, so a store is for servers of your own rather than for browsing.
public struct CookieStore: Sendable, Hashable {
    /// The most cookies of one domain; the oldest goes first, as beyond ``bound`` (RFC 6265 section 6.1).
    public static let domainBound = 50
    /// The most cookies in all.
    public static let bound = 1_000
    /// The most Set-Cookie fields of one answer.
    public static let fieldBound = 50

    /// The cookies, the oldest first.
    public private(set) var cookies: [Cookie] = []

    /// Makes an empty store.
    public init() {}

    /// Takes the cookies of an answer.
    ///
    /// - Parameters:
    ///   - setCookies: The values of its Set-Cookie fields.
    ///   - url: Where it came from.
    ///   - seconds: The time, in seconds since the beginning of 1970.
    public mutating func store(_ setCookies: [String], from url: WebSocketURL, at seconds: Int64) {
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
    public func value(for url: WebSocketURL, at seconds: Int64) -> String? {
        let sent = cookies.enumerated().filter { $0.element.isSent(to: url, at: seconds) }
        if sent.isEmpty { return nil }
        let sorted = sent.sorted {
            let (left, right) = ($0.element.path.utf8.count, $1.element.path.utf8.count)
            return left != right ? left > right : $0.offset < $1.offset
        }
        return sorted.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
    }

    /// Forgets all.
    public mutating func removeAll() {
        cookies = []
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
