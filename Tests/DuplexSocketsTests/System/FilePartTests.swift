// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Glibc
import Testing

@testable import DuplexSockets

@Suite struct FilePartTests {
    private static let content = TestFile.pattern(100_000)

    @Test("A part that is in the cache is appended whole", arguments: [0..<100_000, 10..<30, 99_999..<100_000, 7..<7])
    func cached(range: Range<Int>) async throws {
        try await TestFile.with(Self.content) { file in
            let whole = try FileRange(path: file.path, offset: UInt64(range.lowerBound), count: UInt64(range.count))
            var bytes: [UInt8] = [1, 2]
            #expect(whole.part.readCached(into: &bytes) == .whole)
            #expect(bytes == [1, 2] + Self.content[range])
        }
    }

    @Test("Of one that the file hasn't whole nothing is appended")
    func shorter() async throws {
        try await TestFile.with(Self.content) { file in
            let part = try FileRange(path: file.path, offset: 50_000, count: nil).part
            var bytes: [UInt8] = [1]
            try #require(ftruncate(file.descriptor, 60_000) == 0)
            #expect(part.readCached(into: &bytes) == .notCached && bytes == [1])
            try #require(ftruncate(file.descriptor, 10) == 0)
            #expect(part.readCached(into: &bytes) == .missing && bytes == [1])
        }
    }

    @Test("What was written lately is in the cache, to its last byte, and a part of it is no longer than it is")
    func presence() async throws {
        try await TestFile.with(Self.content) { file in
            let part = try FileRange(path: file.path, offset: 5, count: nil).part
            // A file system that can't tell says no, and then a thread reads.
            if part.isCached { #expect(part.prefix(1).isCached && part.prefix(0).isCached) }
            #expect(part.prefix(10).count == 10 && part.prefix(1 << 40).count == 99_995 && part.prefix(7).offset == 5)
        }
    }

    #if os(Linux)
    @Test("What was put out of the cache isn't there, until it is read ahead")
    func evicted() async throws {
        try await TestFile.with(TestFile.pattern(3_000_000)) { file in
            let part = try FileRange(path: file.path, offset: 1_000_000, count: nil).part
            part.readAhead()
            guard part.isCached else { return }
            try #require(fsync(file.descriptor) == 0)
            try #require(posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0)
            // In memory alone there is nothing that it could be put out to.
            if part.isCached { return }
            var bytes: [UInt8] = []
            #expect(part.readCached(into: &bytes) == .notCached)
            part.readAhead()
            #expect(part.isCached && part.readCached(into: &bytes) == .whole)
        }
    }
    #endif

    #if DEBUG
    @Test(
        "Where the kernel can't tell of all pages, bytes are looked at; where it can't tell of those either, it is no"
    )
    func probing() async throws {
        try await TestFile.with(Self.content) { file in
            let part = try FileRange(path: file.path, offset: 0, count: nil).part
            let plan = FaultPlan()
            typealias Rule = FaultPlan.Rule
            for (rules, expected) in [
                ([Rule(.readCached, .fails(EAGAIN))], false), ([Rule(.readCached, .fails(ENOSYS))], true),
                ([Rule(.readCached, .fails(EAGAIN), first: 2)], false),
                ([Rule(.readCached, .fails(EOPNOTSUPP), first: 2)], true),
                ([Rule(.readCached, .fails(EPERM)), Rule(.readCached, .fails(EAGAIN), first: 3)], false),
                ([Rule(.readCached, .fails(EPERM)), Rule(.readCached, .fails(EAGAIN), first: 4)], false),
                ([Rule(.readCached, .fails(EOPNOTSUPP), count: .max)], false),
            ] {
                plan.arm(rules)
                #expect(plan.run { part.isCached } == expected, "\(rules)")
            }
        }
    }

    @Test("The beginning of a file that was in the cache is taken to be there for a second, and then looked for again")
    func remembered() async throws {
        try await TestFile.with(Self.content) { file in
            let part = try FileRange(path: file.path, offset: 0, count: nil).part
            let plan = FaultPlan()
            func looks(at part: FilePart, _ milliseconds: Int64) -> Bool {
                plan.arm([FaultPlan.Rule(.readCached, .fails(EAGAIN), count: .max)])
                let now = Instant(nanoseconds: 5_000_000_000 + milliseconds * 1_000_000)
                return plan.run { !part.isCached(now: now) }
            }
            #expect(looks(at: part, 0), "Nothing was seen yet.")
            guard part.isCached(now: Instant(nanoseconds: 5_000_000_000)) else { return }
            #expect(!looks(at: part, 0) && !looks(at: part, 999) && !looks(at: part.prefix(10), 999))
            #expect(looks(at: part, 1_000) && looks(at: part.prefix(10), 1_000))
            // Of what is behind the part nothing was said.
            let short = try FileRange(path: file.path, offset: 0, count: 10).part
            #expect(short.isCached(now: Instant(nanoseconds: 5_000_000_000)) && !looks(at: short, 999))
            #expect(looks(at: FilePart(file: short.file, offset: 5, count: 6), 0))
        }
    }

    @Test("Nothing is appended where the disk would be waited for, nor where the file system can't tell")
    func notCached() async throws {
        try await TestFile.with(Self.content) { file in
            let part = try FileRange(path: file.path, offset: 0, count: nil).part
            let plan = FaultPlan()
            for (fault, expected) in [
                (.fails(EAGAIN), .notCached), (.fails(EOPNOTSUPP), .notCached), (.fails(EINTR), .notCached),
                (.isCut(to: 10), .notCached), (.fails(EIO), .missing),
            ] as [(FaultPlan.Fault, FilePart.CachedRead)] {
                plan.arm([FaultPlan.Rule(.readCached, fault)])
                plan.run {
                    var bytes: [UInt8] = [1]
                    #expect(part.readCached(into: &bytes) == expected && bytes == [1], "\(fault)")
                    #expect(part.readCached(into: &bytes) == .whole && bytes.count == 100_001)
                }
            }
        }
    }
    #endif
}
