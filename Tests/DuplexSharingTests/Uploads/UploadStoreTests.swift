// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexWire
import Foundation
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite("Uploads on the disk", .timeLimit(minutes: 1))
struct UploadStoreTests {
    private static let now = UnixTime.now

    private static func record(_ length: UInt64?, lasts seconds: Int64 = 1_000) -> UploadRecord {
        UploadRecord(
            length: length,
            metadata: .none,
            concatenation: .none,
            user: nil,
            expires: UnixTime(seconds: now.seconds + seconds)
        )
    }

    private func withStore(
        _ options: ResumableUploadOptions = ResumableUploadOptions(),
        _ body: (UploadStore, String) throws -> Void
    ) async throws {
        try await withTestFolder { root in
            try body(UploadStore(try SharedFolder(root), options), root + ".duplex/uploads/")
        }
    }

    private static func names(_ path: String) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: path))
    }

    @Test("How far it is, is what its file has; another store finds it as well")
    func offsets() async throws {
        try await withStore { store, path in
            let id = try store.create(Self.record(10), now: Self.now)
            #expect(UploadStore.isID(id))
            #expect(try store.find(id)?.offset == 0)
            let file = try #require(try store.open(id, at: 0))
            try file.write([1, 2, 3])
            let other = UploadStore(store.folder, ResumableUploadOptions())
            #expect(try other.find(id)?.offset == 3)
            #expect(try other.find(id)?.record == Self.record(10))
            // Whoever has it open has it alone.
            #expect(try other.open(id, at: 3) == nil)
            #expect(try Self.names(path) == [id, id + ".state"])
            store.remove(id)
            #expect(try store.find(id) == nil)
            #expect(try Self.names(path) == [])
        }
    }

    @Test("What a request has left whose checksum wasn't looked at is dropped")
    func unchecked() async throws {
        try await withStore { store, path in
            var record = Self.record(10)
            let id = try store.create(record, now: Self.now)
            try #require(try store.open(id, at: 0)).write([1, 2, 3, 4, 5])
            record.uncheckedFrom = 2
            try store.write(record, id)
            #expect(try store.find(id)?.offset == 2)
            try #require(try store.open(id, at: 2)).write([6])
            record.uncheckedFrom = nil
            try store.write(record, id)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path + id))
            #expect(Array(bytes) == [1, 2, 6])
        }
    }

    @Test("Whatever step of making or removing one the process was killed at, none is half there")
    func halves() async throws {
        try await withStore { store, path in
            let id = try store.create(Self.record(3), now: Self.now)
            func put(_ name: String, _ text: String = "x") throws {
                try Data(text.utf8).write(to: URL(fileURLWithPath: path + name))
            }
            // Its file without what is known of it; what is known half written.
            let bare = String(repeating: "a", count: id.utf8.count)
            try put(bare)
            #expect(try store.find(bare) == nil)
            try put(bare + ".new", "duplex upload 1\nexp")
            #expect(try store.find(bare) == nil)
            try put(bare + ".state", "duplex upload 1\nexp")
            #expect(try store.find(bare) == nil)
            // What is known of one whose file has its name by now.
            try FileManager.default.removeItem(atPath: path + id)
            let found = try #require(try store.find(id))
            #expect(!found.isHere && found.state.isWhole)
            // A leftover of replacing what is known is no obstacle to the next time.
            try put(id + ".new")
            try store.write(Self.record(4), id)
            #expect(try store.find(id)?.record.length == 4)
            // They go when nobody can be making them any more.
            let later = UnixTime(seconds: Self.now.seconds + 4_000)
            try UploadStore(store.folder, ResumableUploadOptions()).sweep(now: later)
            #expect(try Self.names(path) == [])
        }
    }

    @Test("What rests too long goes, and nothing else")
    func expiry() async throws {
        try await withStore { store, path in
            let short = try store.create(Self.record(3, lasts: 100), now: Self.now)
            let long = try store.create(Self.record(3, lasts: 1_000), now: Self.now)
            try store.sweep(now: UnixTime(seconds: Self.now.seconds + 99))
            #expect(try Self.names(path).count == 4)
            try store.sweep(now: UnixTime(seconds: Self.now.seconds + 200))
            #expect(try store.find(short) == nil)
            #expect(try store.find(long) != nil)
            #expect(try Self.names(path) == [long, long + ".state"])
        }
    }

    @Test("There are no more at a time than are allowed, nor longer ones, also behind a restart")
    func limits() async throws {
        var few = ResumableUploadOptions()
        few.unfinishedCount = 2
        few.unfinishedSize = ByteCount(100)
        try await withStore(few) { store, _ in
            let first = try store.create(Self.record(60), now: Self.now)
            #expect(throws: FolderError.self) { try store.create(Self.record(41), now: Self.now) }
            _ = try store.create(Self.record(40), now: Self.now)
            #expect(throws: FolderError.self) { try store.create(Self.record(nil), now: Self.now) }
            var options = ResumableUploadOptions()
            options.unfinishedCount = 2
            let restarted = UploadStore(store.folder, options)
            #expect(throws: FolderError.self) { try restarted.create(Self.record(1), now: Self.now) }
            store.settle(first)
            _ = try store.create(Self.record(60), now: Self.now)
        }
    }

    @Test("No name but one of its own is looked for", arguments: ["", ".", "..", "a", "../../etc/passwd", "x.state"])
    func names(id: String) async throws {
        try await withStore { store, _ throws in #expect(try store.find(id) == nil) }
    }

    #if DEBUG
    /// Fails each call of some kinds in turn, until none is left to fail.
    ///
    /// - Parameter body: gets a plan that is armed; runs something that ends in an error, or doesn't.
    /// - Returns: how many were failed.
    private static func failEach(_ body: (FaultPlan, String) throws -> Void) rethrows -> Int {
        var strikes = 0
        for call in [SystemCall.openFile, .makeFolder, .fileStatus, .writeFile, .renameFile, .unlink] {
            for number in 1... {
                let plan = FaultPlan()
                plan.arm([FaultPlan.Rule(call, .fails(EIO), first: number)])
                try body(plan, "\(call) \(number)")
                if plan.strikes == 0 { break }
                strikes += 1
            }
        }
        return strikes
    }

    @Test("Whichever call of making one fails, there is a whole one or none")
    func failingCreation() async throws {
        let strikes = try await withFailing { store, plan, what throws in
            let id = plan.run { try? store.create(Self.record(3), now: Self.now) }
            guard let id else { return }
            #expect(try store.find(id)?.record == Self.record(3), "\(what)")
        }
        #expect(strikes > 8)
    }

    @Test("Whichever call of replacing what is known fails, the old or the new is known")
    func failingRecord() async throws {
        let strikes = try await withFailing { store, plan, what throws in
            let id = try store.create(Self.record(3), now: Self.now)
            let isWritten = plan.run { (try? store.write(Self.record(7), id)) != nil }
            #expect(try store.find(id)?.record == Self.record(isWritten ? 7 : 3), "\(what)")
        }
        #expect(strikes > 4)
    }

    /// Runs it with each call failing, and expects that nothing is left once all have expired.
    private func withFailing(_ body: (UploadStore, FaultPlan, String) throws -> Void) async throws -> Int {
        try await withTestFolder { root in
            let folder = try SharedFolder(root)
            return try Self.failEach { plan, what throws in
                try body(UploadStore(folder, ResumableUploadOptions()), plan, what)
                let later = UnixTime(seconds: Self.now.seconds + 10_000)
                try UploadStore(folder, ResumableUploadOptions()).sweep(now: later)
                #expect(try Self.names(root + ".duplex/uploads/") == [], "\(what)")
            }
        }
    }
    #endif
}
