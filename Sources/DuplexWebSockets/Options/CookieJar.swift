// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
package import DuplexWire
import Synchronization

/// The cookies that servers have set in their answers to handshakes, shared by the connections that have it in their
/// options (RFC 6265).
///
/// In memory only and bounded: 50 cookies of one domain and 1,000 in all; the oldest goes first. There is no list of public suffixes: a jar is for
/// servers of your own, and not for browsing.
public final class CookieJar: Sendable {
    private let store: Mutex<CookieStore>

    /// Makes an empty jar.
    public init() {
        store = Mutex(CookieStore())
    }

    /// What is in it now.
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
