// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import Testing

@testable import DuplexWire

@Suite("Tables that make room")
struct MakingRoomTests {
    private func full(_ count: Int) -> [Int: Instant] {
        Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, Instant(nanoseconds: Int64($0))) })
    }

    /// Of keys those from that one on are needed.
    private func makeRoom(in table: inout [Int: Instant], within bound: Int, from first: Int) -> Instant? {
        table.makeRoom(within: bound) {
            $0.key >= first
        } since: {
            $0.value
        }
    }

    @Test("What isn't needed goes, and nothing else where that makes room enough")
    func needed() {
        var table = full(8)
        #expect(makeRoom(in: &table, within: 8, from: 2) == nil)
        #expect(table.keys.sorted() == Array(2..<8))
    }

    @Test("The older half goes where it doesn't, and it is said up to when")
    func older() {
        var table = full(8)
        #expect(makeRoom(in: &table, within: 8, from: 1) == Instant(nanoseconds: 4))
        #expect(table.keys.sorted() == [5, 6, 7])
    }

    @Test("Of entries that are all of one age none stays")
    func same() {
        var table = full(8).mapValues { _ in Instant(nanoseconds: 5) }
        #expect(makeRoom(in: &table, within: 8, from: 0) == Instant(nanoseconds: 5))
        #expect(table.isEmpty)
    }

    @Test("A bound of one entry makes room, too")
    func least() {
        var table = full(1)
        #expect(makeRoom(in: &table, within: 1, from: 0) == Instant(nanoseconds: 0))
        #expect(table.isEmpty)
        #expect(makeRoom(in: &table, within: 1, from: 0) == nil)
    }
}
