// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

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

/// The names of locks (RFC 4918 section 6.5).
enum LockToken {
    /// Makes a token of random bytes, as a UUID of version 4 (RFC 9562 section 5.4).
    ///
    /// - Parameter bytes: sixteen that nobody can guess.
    /// - Returns: the token, such as `urn:uuid:f81d4fae-7dec-41d0-a765-00a0c91e6bf6`.
    static func make(of bytes: [UInt8]) -> String {
        var bytes = Array((bytes + [UInt8](repeating: 0, count: 16)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array(Base16.encode(bytes).utf8)
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(decoding: digits[$0], as: UTF8.self) }
        return "urn:uuid:" + parts.joined(separator: "-")
    }

    /// The token that the field `Lock-Token` names.
    ///
    /// - Throws: ``WebDAVFault`` without the field, and for one that is malformed.
    static func read(_ headers: HTTPFields) throws(WebDAVFault) -> String {
        let values = headers[values: .lockToken]
        var scanner = FieldScanner(values.first ?? "")
        scanner.skipBlanks()
        let token = WebDAVCondition.codedURL(&scanner)
        scanner.skipBlanks()
        guard values.count == 1, let token, scanner.isAtEnd else {
            throw WebDAVFault("Lock-Token names the lock: a URL between < and >.")
        }
        return token
    }
}

/// What the body of a LOCK asks for (RFC 4918 section 9.10).
struct LockRequest: Sendable, Hashable {
    let scope: WebDAVLock.Scope
    /// What the client says of who holds the lock.
    let owner: XMLElement?

    /// Reads the body of a request.
    ///
    /// - Throws: ``WebDAVFault`` for one that asks for no lock there is.
    init(_ root: XMLElement) throws(WebDAVFault) {
        guard root.name == .dav("lockinfo") else { throw WebDAVFault("The body is no lockinfo of DAV:.") }
        guard root.first(.dav("locktype"))?.first(.dav("write")) != nil else {
            throw WebDAVFault("The one type of lock is write.")
        }
        let scopes = root.first(.dav("lockscope"))?.elements.map(\.name) ?? []
        switch (scopes.contains(.dav("exclusive")), scopes.contains(.dav("shared"))) {
        case (true, false): scope = .exclusive
        case (false, true): scope = .shared
        default: throw WebDAVFault("The scope of a lock is exclusive or shared.")
        }
        owner = root.first(.dav("owner"))
    }
}

/// The locks that clients see: the property `lockdiscovery` (RFC 4918 section 15.8).
enum LockDiscovery {
    /// The most bytes that an answer has of the locks of one resource, one lock excepted.
    static let bound = 8_192

    /// The locks as clients see them, those of the asking user first, and others as far as they fit.
    ///
    /// A server may withhold the rest (RFC 4918 section 15.8): shared locks are as many as clients like, and each has a text of
    /// its client's in it.
    ///
    /// - Parameters:
    ///   - locks: that hold for the resource.
    ///   - user: who asks.
    ///   - now: the time.
    ///   - href: returns the URL of a lock's root.
    /// - Returns: elements `activelock`; at least one if there is a lock.
    static func elements(
        of locks: [WebDAVLock],
        for user: String?,
        now: UnixTime,
        href: (ResourcePath) -> String
    ) -> [XMLElement] {
        var elements: [XMLElement] = []
        var size = 0
        for lock in locks.filter({ $0.user == user }) + locks.filter({ $0.user != user }) {
            let element = lock.element(href: href(lock.root), now: now)
            size += element.written.utf8.count
            if size > bound && !elements.isEmpty { break }
            elements.append(element)
        }
        return elements
    }
}
