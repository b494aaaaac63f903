// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// A lock on something, and perhaps all below it (RFC 4918 section 6).
struct WebDAVLock: Sendable, Hashable {
    /// Whether others may hold a lock there, too.
    enum Scope: String, Sendable {
        case exclusive, shared
    }

    /// Its name.
    let token: String
    /// What it was taken out on.
    let root: ResourcePath
    /// Whether it holds for all below, too.
    let isDeep: Bool
    let scope: Scope
    /// What the client said of who holds it.
    let owner: XMLElement?
    /// The user who took it out, who alone may use it; nil where nobody logs in.
    let user: String?
    /// When it ends.
    var expiry: UnixTime

    init(
        token: String,
        root: ResourcePath,
        isDeep: Bool,
        scope: Scope,
        owner: XMLElement?,
        user: String?,
        expiry: UnixTime
    ) {
        self.token = token
        self.root = root
        self.isDeep = isDeep
        self.scope = scope
        self.owner = owner
        self.user = user
        self.expiry = expiry
    }

    /// The lock as clients see it (RFC 4918 section 14.1).
    ///
    /// - Parameters:
    ///   - href: the URL of its root.
    ///   - now: the time.
    /// - Returns: the element `activelock`.
    func element(href: String, now: UnixTime) -> XMLElement {
        var parts: [XMLElement] = [
            .dav("locktype", [.dav("write")]), .dav("lockscope", [.dav(scope.rawValue)]),
            .dav("depth", text: isDeep ? "infinity" : "0"),
        ]
        if let owner { parts.append(owner) }
        parts += [
            .dav("timeout", text: "Second-\(max(0, expiry.seconds - now.seconds))"),
            .dav("locktoken", [.dav("href", text: token)]), .dav("lockroot", [.dav("href", text: href)]),
        ]
        return .dav("activelock", parts)
    }

    /// The locks that can be had (RFC 4918 section 15.10).
    static let supported = XMLElement.dav(
        "supportedlock",
        [Scope.exclusive, .shared].map { scope in
            .dav("lockentry", [.dav("lockscope", [.dav(scope.rawValue)]), .dav("locktype", [.dav("write")])])
        }
    )
}
