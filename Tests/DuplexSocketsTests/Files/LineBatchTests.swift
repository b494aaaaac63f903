// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

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
