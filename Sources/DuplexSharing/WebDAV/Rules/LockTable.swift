// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// The locks of a tree, and what they allow (RFC 4918 sections 6 and 7).
///
/// Reads no clock: what has ended by the time that is handed in counts no more.
struct LockTable: Sendable {
    /// Why a lock can't be had.
    enum Refusal: Error, Sendable, Hashable {
        /// There are locks that it doesn't get on with, with these roots.
        case conflict([ResourcePath])
        /// There are as many as there may be.
        case tooMany
        /// The user has as many as a user may have.
        case tooManyOfUser
    }

    private var locks: [ResourcePath: [WebDAVLock]] = [:]
    /// How many there are, some of which may have ended.
    private(set) var count = 0
    private let bound: Int
    private let userBound: Int

    /// Makes a table without a lock.
    ///
    /// - Parameters:
    ///   - bound: the most locks that it takes.
    ///   - userBound: the most locks of one user; clients that don't log in are one user. Default: as many as it takes.
    init(bound: Int, userBound: Int = .max) {
        self.bound = bound
        self.userBound = userBound
    }

    /// All that hold, in no order.
    func all(now: UnixTime) -> [WebDAVLock] {
        locks.values.joined().filter { $0.expiry > now }
    }

    /// Those that hold for what is at a path: those on it, and deep ones above.
    func locks(on path: ResourcePath, now: UnixTime) -> [WebDAVLock] {
        if locks.isEmpty { return [] }
        let own = locks[path] ?? []
        return (own + path.ancestors.flatMap { locks[$0]?.filter(\.isDeep) ?? [] }).filter { $0.expiry > now }
    }

    /// Those on a path itself, without deep ones above.
    func locks(rootedAt path: ResourcePath, now: UnixTime) -> [WebDAVLock] {
        if locks.isEmpty { return [] }
        return locks[path]?.filter { $0.expiry > now } ?? []
    }

    /// The paths below one that locks are on.
    private func lockedPaths(below path: ResourcePath, now: UnixTime) -> [ResourcePath] {
        locks.filter { $0.key.isBelow(path) && $0.value.contains { $0.expiry > now } }.map(\.key)
    }

    // MARK: Locking

    /// Takes a lock out.
    ///
    /// - Parameters:
    ///   - lock: the lock.
    ///   - now: the time.
    /// - Throws: ``Refusal``.
    mutating func add(_ lock: WebDAVLock, now: UnixTime) throws(Refusal) {
        expire(now: now)
        var others = locks(on: lock.root, now: now)
        if lock.isDeep {
            others += lockedPaths(below: lock.root, now: now).flatMap { locks[$0] ?? [] }
        }
        let conflicts = others.filter { lock.scope == .exclusive || $0.scope == .exclusive }
        guard conflicts.isEmpty else { throw .conflict(Array(Set(conflicts.map(\.root)))) }
        guard count < bound else { throw .tooMany }
        guard locks.values.joined().count(where: { $0.user == lock.user }) < userBound else { throw .tooManyOfUser }
        locks[lock.root, default: []].append(lock)
        count += 1
    }

    /// Has a lock hold for longer.
    ///
    /// - Parameters:
    ///   - tokens: what the client has submitted; the lock is one of them.
    ///   - path: what it holds for, which needn't be its root.
    ///   - user: who asks.
    ///   - expiry: when it ends.
    ///   - now: the time.
    /// - Returns: the lock as it is then; nil where none of them holds there.
    mutating func refresh(
        _ tokens: Set<String>,
        on path: ResourcePath,
        by user: String?,
        until expiry: UnixTime,
        now: UnixTime
    ) -> WebDAVLock? {
        guard let lock = locks(on: path, now: now).first(where: { tokens.contains($0.token) && $0.user == user }),
            let index = locks[lock.root]?.firstIndex(where: { $0.token == lock.token })
        else { return nil }
        locks[lock.root]?[index].expiry = expiry
        return locks[lock.root]?[index]
    }

    /// Takes a lock away.
    ///
    /// - Parameters:
    ///   - token: of the lock.
    ///   - path: what it holds for, which needn't be its root.
    ///   - now: the time.
    /// - Returns: the lock; nil where there is none there.
    mutating func remove(_ token: String, on path: ResourcePath, now: UnixTime) -> WebDAVLock? {
        guard let lock = locks(on: path, now: now).first(where: { $0.token == token }) else { return nil }
        keep(at: lock.root) { $0.token != token }
        return lock
    }

    /// Takes away what is on a path and below: there is nothing any more to lock (RFC 4918 section 6.1).
    ///
    /// - Returns: whether there was any.
    @discardableResult
    mutating func removeAll(from path: ResourcePath) -> Bool {
        let paths = locks.keys.filter { $0 == path || $0.isBelow(path) }
        for path in paths { keep(at: path) { _ in false } }
        return !paths.isEmpty
    }

    /// Forgets what has ended.
    mutating func expire(now: UnixTime) {
        for path in Array(locks.keys) { keep(at: path) { $0.expiry > now } }
    }

    private mutating func keep(at path: ResourcePath, _ keeps: (WebDAVLock) -> Bool) {
        guard let present = locks[path] else { return }
        let kept = present.filter(keeps)
        count -= present.count - kept.count
        locks[path] = kept.isEmpty ? nil : kept
    }

    // MARK: What locks keep others from

    /// The roots of locks that stand in the way of a change, whose tokens the client hasn't submitted.
    ///
    /// Of several shared locks one token is enough (RFC 4918 section 6.2).
    ///
    /// - Parameters:
    ///   - path: what is changed: its content, its properties, or which names a folder has in it.
    ///   - isDeep: whether all below goes or is replaced, too.
    ///   - tokens: what the client has submitted.
    ///   - user: who the client is.
    ///   - now: the time.
    /// - Returns: the roots; none when the change may be made.
    func obstacles(
        at path: ResourcePath,
        andBelow isDeep: Bool,
        with tokens: Set<String>,
        by user: String?,
        now: UnixTime
    ) -> [ResourcePath] {
        if locks.isEmpty { return [] }
        let paths = [path] + (isDeep ? lockedPaths(below: path, now: now) : [])
        let roots = paths.flatMap { path -> [ResourcePath] in
            let locks = locks(on: path, now: now)
            let mayPass = locks.contains { tokens.contains($0.token) && $0.user == user }
            return mayPass ? [] : locks.map(\.root)
        }
        return Array(Set(roots)).sorted { $0.text < $1.text }
    }
}
