// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexTestTimes
import Synchronization
import Testing

@testable import DuplexCommand

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("Standard streams", .timeLimit(minutes: 1))
struct StandardStreamTests {
    @Test(
        "More than a pipe has room for is written as it is read, also if the pipe doesn't block",
        arguments: [0, O_NONBLOCK]
    )
    func slowReader(flags: Int32) async throws {
        let pipe = try TestPipe()
        try #require(fcntl(pipe.writing, F_SETFL, flags) == 0)
        let stream = StandardStream(pipe.writing)
        let text = (0..<100_000).map { "\($0)" }.joined(separator: " ")
        let (isWritten, writing) = AsyncStream<Bool>.makeStream()
        DispatchQueue(label: "duplex.tests.write").async { writing.yield(stream.write(Array(text.utf8))) }
        var got = ""
        while got.utf8.count < text.utf8.count { got += pipe.read() }
        #expect(got == text)
        for await value in isWritten {
            #expect(value)
            break
        }
    }

    @Test("A pipe that nobody reads holds nobody up for longer than a second once the process is about to end")
    func hurry() async throws {
        let pipe = try TestPipe()
        let stream = StandardStream(pipe.writing)
        let much = [UInt8](repeating: 0x61, count: 1_000_000)
        async let isWritten = RunningCommand.offPool { stream.write(much) }
        stream.hurry()
        #expect(try await !isWritten)
        #expect(stream.lossError == ETIMEDOUT)
        // Nor does it wait again.
        #expect(!stream.write(much))
    }

    @Test("A descriptor that isn't open is a loss, which is reported once")
    func closed() {
        let count = Atomic(0)
        let stream = StandardStream(-1) { count.add(1, ordering: .relaxed) }
        #expect(stream.lossError == nil)
        for _ in 1...2 { #expect(!stream.write([0x61])) }
        #expect(stream.lossError == EBADF && count.load(ordering: .relaxed) == 1)
    }

    @Test("A full disk is a loss")
    func full() throws {
        let descriptor = unsafe open("/dev/full", O_WRONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let stream = StandardStream(descriptor)
        #expect(!stream.write([0x61]) && stream.lossError == ENOSPC)
    }

    @Test("An error that is tolerated is none, also if that is said later")
    func tolerated() {
        let stream = StandardStream(-1, tolerating: [EBADF])
        #expect(!stream.write([0x61]) && stream.lossError == nil)
        let other = StandardStream(-1) { Issue.record("It was reported.") }
        other.tolerate([EBADF])
        #expect(!other.write([0x61]) && other.lossError == nil)
    }

    @Test("Two descriptors of one pipe are one place, and two pipes are two")
    func places() throws {
        let pipe = try TestPipe()
        let other = try TestPipe()
        let copy = dup(pipe.writing)
        defer { close(copy) }
        #expect(StandardStream(pipe.writing).isSame(as: StandardStream(copy)))
        #expect(!StandardStream(pipe.writing).isSame(as: StandardStream(other.writing)))
        #expect(!StandardStream(pipe.writing).isSame(as: StandardStream(-1)))
    }
}
