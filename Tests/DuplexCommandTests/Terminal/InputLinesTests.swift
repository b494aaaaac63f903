// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("Lines of a descriptor")
struct InputLinesTests {
    @Test("Lines come as they are asked for, and nil at the end, as often as one asks")
    func lines() async throws {
        var pipe = try TestPipe()
        let lines = try InputLines(descriptor: pipe.reading)
        pipe.write(Array("one\ntwo\n".utf8))
        #expect(try await lines.next() == "one")
        #expect(try await lines.next() == "two")
        pipe.write(Array("three".utf8))
        pipe.finishWriting()
        #expect(try await lines.next() == "three")
        #expect(try await lines.next() == nil)
        #expect(try await lines.next() == nil)
    }

    @Test("Cancelling ends a wait for a line that doesn't come, and loses none that comes later")
    func cancelling() async throws {
        let pipe = try TestPipe()
        let lines = try InputLines(descriptor: pipe.reading)
        let waiting = Task { try await lines.next() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        pipe.write(Array("late\nlater\n".utf8))
        #expect(try await lines.next() == "late")
        #expect(try await lines.next() == "later")
    }

    @Test("A task that is cancelled already gets no line")
    func cancelledBefore() async throws {
        let pipe = try TestPipe()
        let lines = try InputLines(descriptor: pipe.reading)
        pipe.write(Array("line\n".utf8))
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await lines.next()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await lines.next() == "line")
    }

    @Test("A line that isn't UTF-8 is an error for whoever asks for it")
    func invalid() async throws {
        let pipe = try TestPipe()
        let lines = try InputLines(descriptor: pipe.reading)
        pipe.write([0xC3, 0x0A])
        await #expect(throws: Failure.self) { try await lines.next() }
    }
}

@Suite("Given lines")
struct LineSourceTests {
    @Test("Lines come in their order, and then no more", arguments: [[], ["one"], ["one", "", "three"]])
    func order(lines: [String]) async {
        let source = GivenLines(lines)
        var got: [String] = []
        while let line = await source.next() { got.append(line) }
        #expect(got == lines)
        #expect(await source.next() == nil)
    }
}
