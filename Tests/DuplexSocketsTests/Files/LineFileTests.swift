// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexSockets

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("Lines that are written on a thread of their own")
struct LineFileTests {
    @Test("Lines of several tasks are written whole, and all of them are there behind a flush")
    func writing() async throws {
        let directory = try LineDirectory()
        let file = try LineFile(path: directory.log, sizeLimit: 1 << 20, fileLimit: 2, queueLimit: 10_000)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask { for number in 0..<250 { file.append("\(task) \(number)") } }
            }
        }
        await file.flush()
        #expect(file.counts == LineQueue.Counts(written: 1_000, dropped: 0))
        let lines = try #require(directory.text()).split(separator: "\n").map(String.init)
        for task in 0..<4 {
            #expect(lines.filter { $0.hasPrefix("\(task) ") } == (0..<250).map { "\(task) \($0)" })
        }
    }

    @Test("While the disk is busy nobody waits: what is beyond the bound is dropped, and counted")
    func bounded() async throws {
        let directory = try LineDirectory()
        let file = try LineFile(path: directory.log, sizeLimit: 1 << 20, fileLimit: 2, queueLimit: 10)
        file.holding {
            for number in 0..<100 { file.append("\(number)") }
        }
        await file.flush()
        // One may have been taken out of the queue already.
        #expect((89...90).contains(file.counts.dropped))
        #expect(file.counts.written + file.counts.dropped == 100)
        #expect(directory.text()?.split(separator: "\n").count == file.counts.written)
    }

    @Test("A line that the file doesn't take is dropped, and those behind it are written")
    func refused() async throws {
        let directory = try LineDirectory()
        let file = try LineFile(path: directory.log, sizeLimit: 4, fileLimit: 2, queueLimit: 10)
        for text in ["too long", "abc"] { file.append(text) }
        await file.flush()
        #expect(file.counts == LineQueue.Counts(written: 1, dropped: 1))
        #expect(directory.text() == "abc\n")
    }

    @Test("A flush with nothing to write returns at once")
    func idle() async throws {
        let directory = try LineDirectory()
        let file = try LineFile(path: directory.log, sizeLimit: 4, fileLimit: 2, queueLimit: 10)
        await file.flush()
        #expect(file.counts == LineQueue.Counts())
    }

    @Test("A file that was moved away is made anew before the next line")
    func reopened() async throws {
        let directory = try LineDirectory()
        let file = try LineFile(path: directory.log, sizeLimit: 1 << 20, fileLimit: 2, queueLimit: 10)
        file.append("a")
        await file.flush()
        #expect(unsafe rename(directory.log, directory.path + "/log.8") == 0)
        file.reopen()
        file.append("b")
        await file.flush()
        #expect(directory.text("log.8") == "a\n" && directory.text() == "b\n")
    }

    @Test("It is made anew without a line, too")
    func reopenedAtOnce() async throws {
        let directory = try LineDirectory()
        let file = try LineFile(path: directory.log, sizeLimit: 1 << 20, fileLimit: 2, queueLimit: 10)
        #expect(unsafe rename(directory.log, directory.path + "/log.8") == 0)
        file.reopen()
        // Whatever was asked of the threads before.
        while directory.text() == nil { try await BlockingThreads.files.run {} }
        #expect(directory.text() == "")
    }

    @Test("Lines that were dropped are told of among the others")
    func note() async throws {
        let directory = try LineDirectory()
        let file = try LineFile(
            path: directory.log,
            sizeLimit: 1 << 20,
            fileLimit: 2,
            queueLimit: 100,
            byteLimit: 4,
            noteOfDrops: { "\($0) are missing" }
        )
        file.holding {
            for _ in 0..<10 { file.append("abc") }
        }
        await file.flush()
        #expect(directory.text()?.hasSuffix("\n\(file.counts.dropped) are missing\n") == true)
    }

    @Test("Lines go to a descriptor that is somebody else's, which stays open")
    func stream() async throws {
        let directory = try LineDirectory()
        let descriptor = unsafe open(directory.log, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { SystemCalls.close(descriptor) }
        for text in ["a", "b"] {
            let file = LineFile(descriptor: descriptor, queueLimit: 10, byteLimit: 100) { _ in nil }
            file.append(text)
            file.reopen()
            await file.flush(within: .limit(seconds: 60))
            #expect(file.counts == LineQueue.Counts(written: 1, dropped: 0))
        }
        #expect(directory.text() == "a\nb\n")
    }
}
