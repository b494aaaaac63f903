// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
