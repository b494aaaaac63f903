// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct InputBufferTests {
    /// Feeds the input in two pieces, cut at each place, and takes the goals one after the other as they are reached.
    private func expect(
        _ input: String,
        _ goals: [ReadGoal],
        hasEnded: Bool = false,
        give expected: [ReadOutcome?],
        left: Int = 0,
        at location: SourceLocation = #_sourceLocation
    ) {
        let bytes = Array(input.utf8)
        for cut in 0...bytes.count {
            var buffer = InputBuffer()
            var outcomes: [ReadOutcome?] = []
            var searched = 0
            var goals = goals[...]
            for (piece, isLast) in [(bytes[..<cut], false), (bytes[cut...], true)] {
                buffer.append(Array(piece).span.raw)
                while let goal = goals.first {
                    let outcome = buffer.take(goal, hasEnded: hasEnded && isLast, searched: &searched)
                    guard let outcome else { break }
                    outcomes.append(outcome)
                    searched = 0
                    goals = goals.dropFirst()
                }
            }
            outcomes += [ReadOutcome?](repeating: nil, count: goals.count)
            #expect(outcomes == expected, "cut at \(cut)", sourceLocation: location)
            #expect(buffer.count == left, "cut at \(cut)", sourceLocation: location)
        }
    }

    private func text(_ text: String) -> ReadOutcome { .bytes(Array(text.utf8)) }

    @Test("What is asked for exactly comes whole or not yet")
    func exactly() {
        expect("abcdef", [.exactly(2), .exactly(0), .exactly(4)], give: [text("ab"), text(""), text("cdef")])
        expect("abc", [.exactly(2), .exactly(2)], give: [text("ab"), nil], left: 1)
    }

    @Test("A delimiter is found wherever the input is cut, and what follows it is left")
    func until() {
        let end = Array("\r\n\r\n".utf8)
        expect("a: b\r\n\r\nrest", [.until(end, limit: 100)], give: [text("a: b\r\n\r\n")], left: 4)
        expect("\r\n\r\r\n\r\n", [.until(end, limit: 100)], give: [text("\r\n\r\r\n\r\n")])
        expect("aaab", [.until(Array("aab".utf8), limit: 100)], give: [text("aaab")])
        expect("\r\n\r", [.until(end, limit: 100)], give: [nil], left: 3)
    }

    @Test("No delimiter within the limit fails, and takes nothing")
    func limit() {
        let failed = ReadOutcome.failed(.limitExceeded, "No delimiter came within 4 bytes.")
        expect("abcd", [.until([10], limit: 4)], give: [failed], left: 4)
        expect("abc\n", [.until([10], limit: 4)], give: [text("abc\n")])
        var buffer = InputBuffer()
        buffer.append(Array("abcd\n".utf8).span.raw)
        var searched = 0
        #expect(buffer.take(.until([10], limit: 4), hasEnded: false, searched: &searched) == failed)
        #expect(buffer.take(.line(limit: 4), hasEnded: false, searched: &searched) == failed)
        #expect(buffer.count == 5)
    }

    @Test("Lines end in LF or CR LF, and the last one with the stream")
    func lines() {
        let goals = [ReadGoal](repeating: .line(limit: 100), count: 6)
        expect(
            "one\ntwo\r\n\n\r\nlast",
            goals,
            hasEnded: true,
            give: [text("one"), text("two"), text(""), text(""), text("last"), .end]
        )
        expect("one\ntwo", [.line(limit: 9), .line(limit: 9)], give: [text("one"), nil], left: 3)
    }

    @Test("The end of the stream ends what can't come any more, and leaves what came")
    func end() {
        expect("", [.available(upTo: 1)], hasEnded: true, give: [.end])
        expect("", [.exactly(1)], hasEnded: true, give: [.end])
        expect(
            "ab",
            [.exactly(3), .available(upTo: 9)],
            hasEnded: true,
            give: [.failed(.endOfStream, "The stream ended after 2 of 3 bytes."), text("ab")]
        )
        let failed = ReadOutcome.failed(.endOfStream, "The stream ended after 2 bytes without the delimiter.")
        expect("ab", [.until([10], limit: 9), .line(limit: 9)], hasEnded: true, give: [failed, text("ab")])
    }

    @Test("What is looked at stays")
    func peek() {
        expect("abc", [.peek(2), .exactly(3)], give: [text("ab"), text("abc")])
        expect("a", [.peek(2)], give: [nil], left: 1)
        expect("a", [.peek(2), .exactly(1), .peek(1)], hasEnded: true, give: [text("a"), text("a"), .end])
        expect("ab", [.arrival, .exactly(2), .arrival], give: [text(""), text("ab"), nil], left: 0)
        expect("a", [.arrival, .exactly(1), .arrival], hasEnded: true, give: [text(""), text("a"), .end])
    }

    @Test("No more is received than a goal still needs")
    func missing() {
        var buffer = InputBuffer()
        buffer.append([1, 2, 3].span.raw)
        #expect(buffer.missing(for: .exactly(10)) == 7)
        #expect(buffer.missing(for: .peek(4)) == 1)
        #expect(buffer.missing(for: .until([0], limit: 5)) == 2)
        #expect(buffer.missing(for: .line(limit: 1 << 20)) == 64 * 1_024)
        #expect(buffer.missing(for: .available(upTo: 1)) == 1)
    }
}
