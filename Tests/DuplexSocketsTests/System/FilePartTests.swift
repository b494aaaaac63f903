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

    #if DEBUG
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
