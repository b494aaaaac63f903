// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

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
