// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexTestTimes
import Synchronization
import Testing

@testable import DuplexSockets

@Suite("Lines that wait for a writer")
struct LineQueueTests {
    /// A writer that keeps what it is given, as long as it is well.
    private final class Paper: Sendable {
        private let stored = Mutex<[String]>([])
        let isWell = Atomic<Bool>(true)

        var lines: [String] { stored.withLock { $0 } }

        func write(_ line: [UInt8]) -> Bool {
            guard isWell.load(ordering: .relaxed) else { return false }
            stored.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
            return true
        }
    }

    private func queue(_ paper: Paper, lines: Int = 10, bytes: Int = .max) -> LineQueue {
        LineQueue(
            name: "tests",
            lineLimit: lines,
            byteLimit: bytes,
            noteOfDrops: { Array("\($0) dropped".utf8) },
            writer: { $0.write(each: paper.write) }
        )
    }

    @Test("Lines are written in their order")
    func order() async {
        let paper = Paper()
        let queue = queue(paper, lines: 1_000)
        for number in 0..<500 { queue.append(Array("\(number)".utf8)) }
        await queue.flush()
        #expect(paper.lines == (0..<500).map(String.init))
        #expect(queue.counts == LineQueue.Counts(written: 500, dropped: 0))
    }

    @Test("While the writer is held up nobody waits, and how many lines were dropped is told behind those that weren't")
    func drops() async {
        let paper = Paper()
        let queue = queue(paper)
        queue.holding {
            for number in 0..<100 { queue.append(Array("\(number)".utf8)) }
        }
        await queue.flush()
        queue.append(Array("end".utf8))
        await queue.flush()
        let lines = paper.lines
        #expect(lines.first == "0" && lines.last == "end")
        #expect(lines.filter { $0.hasSuffix(" dropped") } == ["90 dropped"])
        #expect(lines.count == 12)
    }

    @Test("Bytes are bounded as lines are")
    func bytes() async {
        let paper = Paper()
        let queue = queue(paper, lines: 100, bytes: 25)
        queue.holding {
            for _ in 0..<10 { queue.append(Array("0123456789".utf8)) }
        }
        await queue.flush()
        #expect(queue.counts.dropped == 8)
    }

    @Test("A writer that can't write isn't told of that over and over, and the sum comes when it can again")
    func broken() async {
        let paper = Paper()
        let queue = queue(paper)
        paper.isWell.store(false, ordering: .relaxed)
        for _ in 0..<3 {
            queue.append(Array("lost".utf8))
            await queue.flush()
        }
        #expect(queue.counts == LineQueue.Counts(written: 0, dropped: 3))
        paper.isWell.store(true, ordering: .relaxed)
        queue.append(Array("one".utf8))
        await queue.flush()
        queue.append(Array("two".utf8))
        await queue.flush()
        #expect(paper.lines == ["one", "3 dropped", "two"])
    }

    @Test("A flush with a limit comes back though the writer is stuck, and ends nobody else's", .timeLimit(minutes: 1))
    func limitedFlush() async {
        let mayWrite = DispatchSemaphore(value: 0)
        let queue = LineQueue(name: "tests", lineLimit: 10) { lines in
            mayWrite.wait()
            return LineBatch.Outcome(written: lines.count)
        }
        queue.append([0x61])
        async let flushed: Void = queue.flush()
        while queue.flusherCount < 1 { await Task.yield() }
        // Also where the time is over before it waits.
        for _ in 0..<1_000 { await queue.flush(within: .zero) }
        await queue.flush(within: .milliseconds(1))
        // Who waits without a limit goes on waiting.
        #expect(queue.counts.written == 0 && queue.flusherCount == 1)
        mayWrite.signal()
        await flushed
        #expect(queue.counts.written == 1)
    }

    @Test("A flush with a limit that has come back in time ends nobody else's")
    func limitedFlushInTime() async {
        for _ in 0..<100 {
            let mayWrite = DispatchSemaphore(value: 0)
            let queue = LineQueue(name: "tests", lineLimit: 10) { lines in
                mayWrite.wait()
                return LineBatch.Outcome(written: lines.count)
            }
            // Nothing waits, so it is back before its time is over.
            await queue.flush(within: .seconds(3_600))
            queue.append([0x61])
            let isFlushed = Atomic(false)
            async let flushed: Void = {
                await queue.flush()
                isFlushed.store(true, ordering: .relaxed)
            }()
            for _ in 0..<10 { await Task.yield() }
            let isEarly = isFlushed.load(ordering: .relaxed)
            #expect(!isEarly)
            mayWrite.signal()
            await flushed
        }
    }

    @Test("A caller may write what waits by itself, to come behind it")
    func writingOut() {
        let paper = Paper()
        let queue = queue(paper)
        for number in 0..<5 { queue.append(Array("\(number)".utf8)) }
        queue.writeOut()
        #expect(paper.lines.count == 5)
    }

    @Test("Lines that come during a pause are written together; whoever waits for them ends it, and so do many")
    func pausing() async {
        let batches = Mutex<[Int]>([])
        let queue = LineQueue(name: "tests", lineLimit: 20, pause: .seconds(3_600)) { lines in
            batches.withLock { $0.append(lines.count) }
            return LineBatch.Outcome(written: lines.count)
        }
        queue.append([0x61])
        await queue.flush()
        for _ in 0..<9 { queue.append([0x61]) }
        await queue.flush()
        // The flush may have come before the pause.
        #expect(queue.counts.written == 10 && batches.withLock { $0.count } <= 10)
        let written = Task {
            while queue.counts.written < 20 { await Task.yield() }
        }
        for _ in 0..<10 { queue.append([0x61]) }
        await written.value
        #expect(queue.counts == LineQueue.Counts(written: 20, dropped: 0))
    }
}

@Suite("Lines in one piece of memory")
struct LineBatchTests {
    private static func batch(_ texts: String...) -> LineBatch {
        var batch = LineBatch()
        for text in texts { batch.append(Array(text.utf8)) }
        return batch
    }

    @Test("Lines are found by their number and by where they end")
    func places() {
        var batch = Self.batch("abc", "", "de")
        #expect(batch.count == 3 && batch.bytes == Array("abcde".utf8) && !batch.isEmpty)
        #expect((0..<3).map { batch.range(of: $0) } == [0..<3, 3..<3, 3..<5] && batch.start(of: 2) == 3)
        #expect((0...5).map { batch.count(from: 0, endingBy: $0) } == [0, 0, 0, 2, 2, 3])
        #expect(batch.count(from: 2, endingBy: 5) == 1 && batch.count(from: 3, endingBy: 5) == 0)
        batch.removeAll()
        #expect(batch.isEmpty && batch.bytes.isEmpty)
    }

    @Test("Written one by one, it is the last line that says whether the writer is well")
    func writing() {
        var written: [String] = []
        let outcome = Self.batch("a", "bb", "c").write { line in
            written.append(String(decoding: line, as: UTF8.self))
            return line.count == 1
        }
        #expect(written == ["a", "bb", "c"] && outcome == LineBatch.Outcome(written: 2, isWell: true))
        #expect(!Self.batch("a", "bb").write { $0.count == 1 }.isWell)
    }
}
