// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexTestTimes
import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("Locks of a shared folder", .timeLimit(minutes: 1))
struct WebDAVLocksTests {
    private static func lock(_ token: String, _ path: String) -> WebDAVLock {
        WebDAVLock(
            token: token,
            root: ResourcePath(path),
            isDeep: false,
            scope: .shared,
            owner: nil,
            user: nil,
            expiry: UnixTime(seconds: 100)
        )
    }

    private static func locks(_ root: String) throws -> WebDAVLocks {
        WebDAVLocks(try SharedFolder(root), WebDAVOptions()) { UnixTime(seconds: 50) }
    }

    private static func tokens(_ locks: WebDAVLocks) -> Set<String> {
        locks.look { table, now in Set(table.all(now: now).map(\.token)) }
    }

    @Test("A change is on the disk when it returns")
    func keeps() async throws {
        try await withTestFolder(["a": "", "b": ""]) { root in
            let locks = try Self.locks(root)
            try await locks.change { table, now in try table.add(Self.lock("1", "a"), now: now) }
            let kept = Self.tokens(try Self.locks(root))
            #expect(kept == ["1"])
            await #expect(throws: LockTable.Refusal.self) {
                try await locks.change { _, _ in throw LockTable.Refusal.tooMany }
            }
            // Many at once: the file has all of them in the end.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 2..<10 {
                    group.addTask {
                        try await locks.change { table, now in try table.add(Self.lock("\(number)", "b"), now: now) }
                    }
                }
                try await group.waitForAll()
            }
            let all = Self.tokens(try Self.locks(root))
            #expect(all.count == 9)
        }
    }

    @Test("What has gone has no locks; one on a place that something else takes may stay")
    func removes() async throws {
        try await withTestFolder(["a/b": "", "c": ""]) { root in
            let (locks, path) = (try Self.locks(root), try #require(FolderPath("a")))
            for (token, path) in [("1", "a"), ("2", "a/b"), ("3", "c")] {
                try await locks.change { table, now in try table.add(Self.lock(token, path), now: now) }
            }
            await locks.removeAll(from: path, exceptItsOwn: true)
            #expect(Self.tokens(locks) == ["1", "3"])
            await locks.removeAll(from: path)
            let kept = Self.tokens(try Self.locks(root))
            #expect(Self.tokens(locks) == ["3"] && kept == ["3"])
        }
    }
}

@Suite("The file of locks")
struct LockDocumentTests {
    private static func lock(_ token: String, _ owner: XMLElement?, user: String?) -> WebDAVLock {
        WebDAVLock(
            token: token,
            root: ResourcePath("a \"<b>\"/ä"),
            isDeep: owner != nil,
            scope: owner == nil ? .shared : .exclusive,
            owner: owner,
            user: user,
            expiry: UnixTime(seconds: 5)
        )
    }

    @Test("Locks come back as they were")
    func roundTrip() {
        let owner = XMLElement(
            .dav("owner"),
            prefix: "D",
            children: [.text("a & "), .element(.dav("href", text: "b"))]
        )
        let locks = [Self.lock("urn:uuid:1", owner, user: "me"), Self.lock("urn:uuid:2", nil, user: nil)]
        #expect(LockDocument.locks(in: LockDocument.bytes(of: locks)) == locks)
        #expect(LockDocument.locks(in: LockDocument.bytes(of: [])) == [])
    }

    @Test("Of what can't be read there are none, and the others are", arguments: ["", "<a/>", "<locks"])
    func unreadable(text: String) {
        #expect(LockDocument.locks(in: Array(text.utf8)) == [])
        var bytes = String(decoding: LockDocument.bytes(of: [Self.lock("urn:uuid:1", nil, user: nil)]), as: UTF8.self)
        bytes = bytes.replacing("</l:locks>", with: "<l:lock token='x'/><other/></l:locks>")
        #expect(LockDocument.locks(in: Array(bytes.utf8)).map(\.token) == ["urn:uuid:1"])
    }
}
