// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Glibc
import Testing

@testable import DuplexSockets

@Suite struct FileRangeTests {
    private static let content = TestFile.pattern(100_000)

    @Test(
        "A range is read from its beginning to its end, whatever place the descriptor stands at",
        arguments: [(0, nil, 0..<100_000), (10, 20, 10..<30), (99_999, nil, 99_999..<100_000), (100_000, nil, 0..<0)]
            as [(UInt64, UInt64?, Range<Int>)]
    )
    func reading(offset: UInt64, count: UInt64?, expected: Range<Int>) async throws {
        try await TestFile.with(Self.content) { file in
            for range in [
                try FileRange(path: file.path, offset: offset, count: count),
                try FileRange(descriptor: file.descriptor, offset: offset, count: count),
            ] {
                #expect(range.remaining == UInt64(expected.count))
                var read: [UInt8] = []
                while range.remaining > 0 { read += try range.read(limit: 7_777) }
                #expect(read == Array(Self.content[expected]))
            }
            #expect(lseek(file.descriptor, 0, SEEK_CUR) == Self.content.count)
        }
    }

    @Test("A copy has a place of its own and outlives the first range; of a file that is shorter by then there is none")
    func copies() async throws {
        try await TestFile.with(Self.content) { file in
            var range: FileRange? = try FileRange(path: file.path, offset: 10, count: 1_000)
            _ = try range?.read(limit: 100)
            let copy = FileRange(try #require(range?.part))
            #expect(try copy.read(limit: 50) == Array(Self.content[110..<160]))
            #expect(range?.remaining == 900)
            range = nil
            let rest = try FileRange(checking: copy.part)
            #expect(try rest.readAll(atMost: 1_000) == Array(Self.content[160..<1_010]))
            #expect(ftruncate(file.descriptor, 1_000) == 0)
            let error = #expect(throws: SocketError.self) { try FileRange(checking: copy.part) }
            #expect(error?.code == .unreadableFile)
        }
    }

    @Test("A small file is read whole, and a longer one not at all")
    func whole() async throws {
        try await TestFile.with(Self.content) { file in
            for (offset, limit) in [(0, 100_000), (99_000, 1_000), (100_000, 0)] {
                let range = try FileRange(path: file.path, offset: UInt64(offset), count: nil)
                #expect(try range.readAll(atMost: limit) == Array(Self.content[offset...]))
            }
            let long = try FileRange(path: file.path, offset: 0, count: nil)
            let error = #expect(throws: SocketError.self) { try long.readAll(atMost: 99_999) }
            #expect(error?.code == .unreadableFile)
        }
    }

    @Test("The system sends a range piece by piece, until the socket takes no more")
    func sending() async throws {
        try await TestFile.withLarge { file, size in
            let pair = try Descriptors.pair()
            defer { for descriptor in [pair.near, pair.far] { SystemCalls.close(descriptor) } }
            let range = try FileRange(path: file.path, offset: 0, count: nil)
            var steps: [FileRange.Step] = []
            while steps.last != .wouldBlock { steps.append(try range.send(to: pair.near, limit: 100_000)) }
            let sent = steps.dropLast().map { step in
                if case .sent(let count) = step { count } else { 0 }
            }
            #expect(sent.first == 100_000)
            #expect(sent.allSatisfy { (1...100_000).contains($0) })
            #expect(range.remaining == size - UInt64(sent.reduce(0, +)))
        }
    }

    @Test("A peer that is gone is an error and no signal")
    func brokenPipe() async throws {
        try await TestFile.with(Self.content) { file in
            let pair = try Descriptors.pair()
            SystemCalls.setResetOnClose(pair.far)
            SystemCalls.close(pair.far)
            #expect(Descriptors.isReady(pair.near))
            let range = try FileRange(path: file.path, offset: 0, count: nil)
            // The first tells of the reset, the others of the pipe that is broken by it.
            var codes: [FileRange.Step] = []
            for _ in 0..<3 { codes.append(try range.send(to: pair.near, limit: 10)) }
            #expect(codes.allSatisfy { [.disconnected(EPIPE), .disconnected(ECONNRESET)].contains($0) })
            #expect(codes.last == .disconnected(EPIPE))
            SystemCalls.close(pair.near)
        }
    }

    #if os(Linux)
    /// The first part of the range is answered with a reset, which the second one meets: the system signals and returns how
    /// long the first one was.
    @Test("A peer that goes away in the midst of a range is an error and no signal, either")
    func brokenMidway() async {
        await #expect(processExitsWith: .success) {
            try await TestFile.withLarge { file, _ in
                for _ in 0..<20 {
                    let pair = try Descriptors.pair()
                    SystemCalls.close(pair.far)
                    #expect(Descriptors.isReady(pair.near))
                    let range = try FileRange(path: file.path, offset: 0, count: nil)
                    var step = FileRange.Step.sent(0)
                    while case .sent = step { step = try range.send(to: pair.near, limit: Transfer.directSize) }
                    #expect([.disconnected(EPIPE), .disconnected(ECONNRESET)].contains(step))
                    SystemCalls.close(pair.near)
                }
            }
        }
    }
    #endif

    @Test("A file that gets shorter meanwhile is an error, however it is read")
    func truncation() async throws {
        try await TestFile.with(Self.content) { file in
            let pair = try Descriptors.pair()
            defer { for descriptor in [pair.near, pair.far] { SystemCalls.close(descriptor) } }
            let range = try FileRange(path: file.path, offset: 0, count: nil)
            #expect(try range.send(to: pair.near, limit: 1_000) == .sent(1_000))
            #expect(ftruncate(file.descriptor, 1_500) == 0)
            #expect(try range.read(limit: 1_000).count == 500)
            for _ in 0..<2 {
                let error = #expect(throws: SocketError.self) { try range.send(to: pair.near, limit: 1_000) }
                #expect(error?.code == .unreadableFile)
                #expect(error?.message.contains("98500 bytes") == true)
                #expect(throws: SocketError.self) { try range.read(limit: 1_000) }
            }
        }
    }

    @Test("What can't be written is refused before anything is")
    func refusal() async throws {
        try await TestFile.with(Self.content) { file in
            let size = UInt64(Self.content.count)
            for (offset, count) in [(size + 1, nil), (0, size + 1), (size, 1), (.max, .max), (1, .max)]
                as [(UInt64, UInt64?)]
            {
                let error = #expect(throws: SocketError.self) {
                    try FileRange(path: file.path, offset: offset, count: count)
                }
                #expect(error?.code == .unreadableFile)
                #expect(error?.message.contains("has 100000 bytes") == true)
            }
            #if os(Linux)
            #expect(file.openCount == 1)
            do {
                let range = try FileRange(path: file.path, offset: 0, count: nil)
                #expect(file.openCount == 2 && range.remaining == size)
            }
            #expect(file.openCount == 1)
            #endif
            let pipe = file.path + ".pipe"
            try #require(unsafe mkfifo(pipe, 0o600) == 0)
            defer { _ = unsafe unlink(pipe) }
            for path in [pipe, "/tmp", "/dev/zero", "/nowhere"] {
                let error = #expect(throws: SocketError.self) { try FileRange(path: path, offset: 0, count: nil) }
                #expect(error?.code == .unreadableFile, "\(path)")
            }
            #expect(throws: SocketError.self) { try FileRange(descriptor: -1, offset: 0, count: nil) }
        }
    }

    @Test("A file that isn't open for reading can't be read")
    func unreadable() async throws {
        try await TestFile.with(Self.content) { file in
            let descriptor = unsafe open(file.path, O_WRONLY | O_CLOEXEC)
            defer { SystemCalls.close(descriptor) }
            let pair = try Descriptors.pair()
            defer { for descriptor in [pair.near, pair.far] { SystemCalls.close(descriptor) } }
            let range = try FileRange(descriptor: descriptor, offset: 0, count: nil)
            #expect(throws: SocketError.self) { try range.read(limit: 10) }
            let error = #expect(throws: SocketError.self) { try range.send(to: pair.near, limit: 10) }
            #expect(error?.errno == EBADF)
        }
    }
}

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
