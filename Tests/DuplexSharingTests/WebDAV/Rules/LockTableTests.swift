// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("The table of locks")
struct LockTableTests {
    private static let now = UnixTime(seconds: 1_000)

    private static func lock(
        _ token: String,
        _ path: String,
        _ scope: WebDAVLock.Scope = .exclusive,
        isDeep: Bool = false,
        user: String? = nil,
        seconds: Int64 = 60
    ) -> WebDAVLock {
        WebDAVLock(
            token: token,
            root: ResourcePath(path),
            isDeep: isDeep,
            scope: scope,
            owner: nil,
            user: user,
            expiry: UnixTime(seconds: now.seconds + seconds)
        )
    }

    private static func table(_ locks: WebDAVLock..., bound: Int = 10) throws -> LockTable {
        var table = LockTable(bound: bound)
        for lock in locks { try table.add(lock, now: now) }
        return table
    }

    /// The roots that a new lock doesn't get on with.
    private static func conflicts(_ lock: WebDAVLock, with present: WebDAVLock) throws -> [String] {
        var table = try table(present)
        do throws(LockTable.Refusal) {
            try table.add(lock, now: now)
            return []
        } catch {
            guard case .conflict(let roots) = error else { return ["?"] }
            return roots.map(\.text)
        }
    }

    // MARK: Conflicts

    @Test("An exclusive lock gets on with no other, a shared one with shared ones")
    func scopes() throws {
        #expect(try Self.conflicts(Self.lock("2", "a"), with: Self.lock("1", "a")) == ["a"])
        #expect(try Self.conflicts(Self.lock("2", "a", .shared), with: Self.lock("1", "a")) == ["a"])
        #expect(try Self.conflicts(Self.lock("2", "a"), with: Self.lock("1", "a", .shared)) == ["a"])
        #expect(try Self.conflicts(Self.lock("2", "a", .shared), with: Self.lock("1", "a", .shared)) == [])
    }

    @Test("A deep lock holds below, and asks what is below")
    func depths() throws {
        #expect(try Self.conflicts(Self.lock("2", "a/b/c"), with: Self.lock("1", "a", isDeep: true)) == ["a"])
        #expect(try Self.conflicts(Self.lock("2", "a/b/c"), with: Self.lock("1", "a")) == [])
        #expect(try Self.conflicts(Self.lock("2", "a", isDeep: true), with: Self.lock("1", "a/b/c")) == ["a/b/c"])
        #expect(try Self.conflicts(Self.lock("2", "a"), with: Self.lock("1", "a/b/c")) == [])
        #expect(try Self.conflicts(Self.lock("2", "", isDeep: true), with: Self.lock("1", "a")) == ["a"])
        #expect(try Self.conflicts(Self.lock("2", "ab"), with: Self.lock("1", "a", isDeep: true)) == [])
    }

    @Test("One that has ended stands in nobody's way")
    func ended() throws {
        var table = try Self.table(Self.lock("1", "a", isDeep: true, seconds: 60))
        let later = UnixTime(seconds: Self.now.seconds + 60)
        #expect(table.locks(on: ResourcePath("a/b"), now: Self.now).count == 1)
        #expect(table.locks(on: ResourcePath("a/b"), now: later).isEmpty && table.all(now: later).isEmpty)
        #expect(table.obstacles(at: ResourcePath("a"), andBelow: true, with: [], by: nil, now: later) == [])
        try table.add(Self.lock("2", "a", seconds: 120), now: later)
        #expect(table.count == 1)
    }

    @Test("There is a bound, which those that have ended don't count for")
    func bound() throws {
        var table = try Self.table(Self.lock("1", "a"), Self.lock("2", "b", seconds: 1), bound: 2)
        #expect(throws: LockTable.Refusal.tooMany) { try table.add(Self.lock("3", "c"), now: Self.now) }
        try table.add(Self.lock("3", "c"), now: UnixTime(seconds: Self.now.seconds + 1))
        #expect(table.count == 2)
    }

    @Test("A user has a bound of their own, and clients without a name are one user")
    func userBound() throws {
        var table = LockTable(bound: 5, userBound: 2)
        for (token, user) in [("1", "me"), ("2", "me"), ("3", nil), ("4", nil)] {
            try table.add(Self.lock(token, token, user: user), now: Self.now)
        }
        for user in ["me", nil] {
            #expect(throws: LockTable.Refusal.tooManyOfUser) {
                try table.add(Self.lock("5", "5", user: user), now: Self.now)
            }
        }
        _ = table.remove("1", on: ResourcePath("1"), now: Self.now)
        try table.add(Self.lock("5", "5", user: "me"), now: Self.now)
        try table.add(Self.lock("6", "6", user: "you"), now: Self.now)
        #expect(throws: LockTable.Refusal.tooMany) { try table.add(Self.lock("7", "7", user: "you"), now: Self.now) }
    }

    @Test("Locks on a path itself are told from those that hold for it from above")
    func rooted() throws {
        let table = try Self.table(
            Self.lock("1", "", .shared, isDeep: true),
            Self.lock("2", "a", .shared),
            Self.lock("3", "a", .shared, seconds: 1)
        )
        let later = UnixTime(seconds: Self.now.seconds + 1)
        #expect(table.locks(rootedAt: ResourcePath("a"), now: Self.now).map(\.token) == ["2", "3"])
        #expect(table.locks(rootedAt: ResourcePath("a"), now: later).map(\.token) == ["2"])
        #expect(table.locks(rootedAt: ResourcePath("b"), now: Self.now).isEmpty)
        #expect(table.locks(on: ResourcePath("a"), now: later).map(\.token) == ["2", "1"])
    }

    // MARK: Using them

    @Test("A lock is refreshed by who has it, from anywhere that it holds for")
    func refreshes() throws {
        var table = try Self.table(Self.lock("1", "a", isDeep: true, user: "me"))
        let (path, later) = (ResourcePath("a/b"), UnixTime(seconds: 5_000))
        #expect(table.refresh(["2"], on: path, by: "me", until: later, now: Self.now) == nil)
        #expect(table.refresh(["1"], on: path, by: "you", until: later, now: Self.now) == nil)
        #expect(table.refresh(["1"], on: ResourcePath("b"), by: "me", until: later, now: Self.now) == nil)
        #expect(table.refresh(["1", "2"], on: path, by: "me", until: later, now: Self.now)?.expiry == later)
        #expect(table.locks(on: path, now: UnixTime(seconds: 4_999)).count == 1)
    }

    @Test("One is taken away by its token, all with what they are on")
    func removes() throws {
        var table = try Self.table(
            Self.lock("1", "a", .shared, isDeep: true),
            Self.lock("2", "a", .shared),
            Self.lock("3", "a/b/c", .shared),
            Self.lock("4", "ab")
        )
        #expect(table.remove("9", on: ResourcePath("a"), now: Self.now) == nil)
        #expect(table.remove("3", on: ResourcePath("a"), now: Self.now) == nil)
        #expect(table.remove("1", on: ResourcePath("a/x"), now: Self.now)?.root.text == "a")
        #expect(table.count == 3)
        table.removeAll(from: ResourcePath("a"))
        #expect(table.all(now: Self.now).map(\.token) == ["4"] && table.count == 1)
        let again = table.removeAll(from: ResourcePath("a"))
        #expect(!again)
    }

    @Test("Without the token a change has obstacles, with it none")
    func obstacles() throws {
        let table = try Self.table(Self.lock("1", "a/b", user: "me"), Self.lock("2", "c", isDeep: true))
        func roots(_ path: String, _ isDeep: Bool, _ tokens: Set<String>, _ user: String? = nil) -> [String] {
            table.obstacles(at: ResourcePath(path), andBelow: isDeep, with: tokens, by: user, now: Self.now).map(\.text)
        }
        #expect(roots("a/b", false, []) == ["a/b"] && roots("a/b", false, ["1"], "me") == [])
        // Who has heard of a token doesn't have the lock.
        #expect(roots("a/b", false, ["1"], "you") == ["a/b"])
        #expect(roots("a", false, []) == [] && roots("a", true, []) == ["a/b"] && roots("a", true, ["1"], "me") == [])
        #expect(roots("c/d/e", false, []) == ["c"] && roots("c/d/e", true, ["2"]) == [])
        #expect(roots("", true, []) == ["a/b", "c"] && roots("", true, ["2"]) == ["a/b"] && roots("d", true, []) == [])
    }

    @Test("Of several shared locks one token is enough")
    func shared() throws {
        let table = try Self.table(
            Self.lock("1", "a", .shared, user: "me"),
            Self.lock("2", "a", .shared, user: "you"),
            Self.lock("3", "", .shared, isDeep: true, user: "you")
        )
        let path = ResourcePath("a")
        #expect(table.obstacles(at: path, andBelow: false, with: ["1"], by: "me", now: Self.now) == [])
        #expect(table.obstacles(at: path, andBelow: false, with: ["3"], by: "you", now: Self.now) == [])
        #expect(table.obstacles(at: path, andBelow: false, with: [], by: "me", now: Self.now).map(\.text) == ["", "a"])
    }
}
