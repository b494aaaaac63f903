// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("The last events of a stream")
struct EventHistoryTests {
    private static func history(keeping count: Int, size: ByteCount = 1_000, _ ids: [String?]) -> EventHistory<Int> {
        var history = EventHistory<Int>(epoch: "e", keeping: count, size: size)
        for (index, id) in ids.enumerated() { history.append(index + 1, id: id, size: 10) }
        return history
    }

    @Test("A client goes on behind the event that it has seen, by the history's ids and by those of others")
    func goesOn() {
        let history = Self.history(keeping: 10, [nil, "b", nil, "d"])
        #expect(history.place(behind: "e-1") == .behind(1))
        #expect(history.place(behind: "b") == .behind(2))
        #expect(history.place(behind: "e-2") == .behind(2))
        #expect(history.place(behind: "d") == .behind(4))
        #expect(history.place(behind: "e-0") == .behind(0))
        #expect(history.elements(behind: 2, limit: 10) == [3, 4])
        #expect(history.elements(behind: 0, limit: 3) == [1, 2, 3])
        #expect(history.elements(behind: 4, limit: 3) == [])
        #expect(history.lastID == "d" && Self.history(keeping: 1, [nil]).lastID == "e-1")
    }

    @Test(
        "Ids of another history, of events to come and of none are lost",
        arguments: ["", "x", "f-1", "e-3", "e-", "e-x", "e--1", "-e-1", "--1"]
    )
    func unknown(id: String) {
        #expect(Self.history(keeping: 10, [nil, nil]).place(behind: id) == .lost)
    }

    @Test("The oldest events make room, and who lacks them is told")
    func bounded() {
        var history = Self.history(keeping: 3, ["a", nil, "c", nil, "e"])
        #expect(history.count == 3 && history.firstNumber == 3 && history.lastNumber == 5 && history.byteCount == 30)
        #expect(history.place(behind: "a") == .lost && history.place(behind: "e-1") == .lost)
        // Has seen the last one that is gone: nothing is missing.
        #expect(history.place(behind: "e-2") == .behind(2))
        #expect(history.elements(behind: 2, limit: 9) == [3, 4, 5])
        #expect(history.elements(behind: 1, limit: 9) == nil && history.elements(behind: 6, limit: 9) == nil)
        history.append(6, id: nil, size: 990)
        #expect(history.count == 2 && history.byteCount == 1_000)
        history.append(7, id: nil, size: 1_001)
        #expect(history.count == 0 && history.byteCount == 0 && history.firstNumber == 8)
        #expect(history.elements(behind: 7, limit: 9) == [] && history.lastID == "e-7")
    }

    @Test("Of an id that comes twice the second counts, also once the first is gone")
    func twice() {
        var history = Self.history(keeping: 3, ["a", nil, "a"])
        #expect(history.place(behind: "a") == .behind(3))
        history.append(4, id: nil, size: 10)
        #expect(history.place(behind: "a") == .behind(3))
        history.append(5, id: nil, size: 10)
        history.append(6, id: nil, size: 10)
        #expect(history.place(behind: "a") == .lost)
    }

    @Test("The place in front of the last ones is among those that are kept")
    func replay() {
        let history = Self.history(keeping: 3, [nil, nil, nil, nil, nil])
        #expect([-1, 0, 1, 3, 9].map(history.place(beforeLast:)) == [5, 5, 4, 2, 2])
        #expect(Self.history(keeping: 3, []).place(beforeLast: 2) == 0)
    }

    @Test("What is gone is let go, however many come")
    func letsGo() {
        var history = EventHistory<[Int]>(epoch: "e", keeping: 2, size: .unlimited)
        for number in 1...1_000 {
            history.append([number], id: "\(number)", size: 1)
            #expect(history.elements(behind: history.firstNumber - 1, limit: 9)?.last == [number])
        }
        #expect(history.place(behind: "998") == .lost && history.place(behind: "999") == .behind(999))
        #expect(history.byteCount == 2)
    }

    @Test("Behind a restart it goes on with another number, and what lies before isn't kept")
    func restart() {
        var history = EventHistory<String>(epoch: "e", keeping: 3, size: .unlimited)
        history.append("a", id: "id", size: 0)
        history.restart(behind: 9)
        #expect(history.lastNumber == 9 && history.firstNumber == 10 && history.count == 0)
        #expect(history.place(behind: "id") == .lost && history.elements(behind: 1, limit: 9) == nil)
        history.append("b", id: nil, size: 1)
        #expect(history.elements(behind: 9, limit: 9) == ["b"] && history.lastNumber == 10)
    }

    @Test("Nothing may be kept at all")
    func nothing() {
        let history = Self.history(keeping: 0, ["a", nil])
        #expect(history.count == 0 && history.place(behind: "a") == .lost && history.place(behind: "e-2") == .behind(2))
    }
}
