// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
package import DuplexWire
import Synchronization

/// The cookies that servers have set in their answers to handshakes, shared by the connections that have it in their
/// options (RFC 6265).
///
/// In memory and bounded: 50 cookies of one domain and 1,000 in all; the oldest goes first. To keep cookies from one run to the
/// next, encode the jar, and decode it at the start:
///
/// ```swift
/// try JSONEncoder().encode(jar).write(to: file)
/// let jar = try JSONDecoder().decode(CookieJar.self, from: Data(contentsOf: file))
/// ```
///
/// Hazard: they let whoever reads the file in as the user; make it readable by the app alone. There is no list of public suffixes: a jar is for
/// servers of your own, and not for browsing.
public final class CookieJar: Sendable {
    private let store: Mutex<CookieStore>

    /// Makes an empty jar.
    public init() {
        store = Mutex(CookieStore())
    }

    private init(_ store: CookieStore) {
        self.store = Mutex(store)
    }

    /// The cookies that it has now.
    package var contents: CookieStore { store.withLock { $0 } }

    /// Adds a cookie as a server would.
    ///
    /// - Parameters:
    ///   - cookie: the value of a Set-Cookie field, such as `session=abc; Path=/; Secure`.
    ///   - url: the server that it is from.
    /// - Throws: ``WebSocketError`` with ``WebSocketError/Code/invalidURL``.
    public func set(_ cookie: String, from url: String) throws {
        take([cookie], from: try WebSocketURL.parse(url))
    }

    /// Empties it.
    public func removeAll() {
        store.withLock { $0.removeAll() }
    }

    /// Takes the cookies of an answer.
    func take(_ setCookies: [String], from url: WebSocketURL) {
        if setCookies.isEmpty { return }
        let now = UnixTime.now.seconds
        store.withLock { $0.store(setCookies, from: url, at: now) }
    }

    /// The value of the Cookie field of a request.
    func value(for url: WebSocketURL) -> String? {
        let now = UnixTime.now.seconds
        return store.withLock { $0.value(for: url, at: now) }
    }
}

extension CookieJar: Codable {
    /// Makes a jar with the cookies of one that was encoded.
    ///
    /// If there are more than the bounds allow, the oldest are left out. Those that have expired aren't sent.
    ///
    /// - Parameter decoder: has a list of cookies, the oldest first.
    /// - Throws: `DecodingError`, also if one of the cookies couldn't be sent: without a name, with a control character or a
    ///   semicolon, or with more than 4,096 bytes of name and value.
    public convenience init(from decoder: any Decoder) throws {
        self.init(try CookieStore(from: decoder))
    }

    /// Encodes the cookies that it has now, also those without an expiry, which a browser forgets when it is closed.
    ///
    /// - Parameter encoder: gets a list of cookies.
    /// - Throws: as the encoder does.
    public func encode(to encoder: any Encoder) throws {
        try contents.encode(to: encoder)
    }
}
