// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import Testing

@testable import DuplexCommand

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("Standard streams", .timeLimit(.minutes(1)))
struct StandardStreamTests {
    @Test("More than a pipe has room for is written as it is read")
    func slowReader() async throws {
        let pipe = try TestPipe()
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
        // Nor does it wait again.
        #expect(!stream.write(much))
    }

    @Test("What nobody can read any more is given up")
    func closed() {
        #expect(!StandardStream(-1).write([0x61]))
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
