// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Tables of what clients did, bounded: what was there longest makes room.

extension Dictionary {
    /// Makes room in a table that is full: for what is no longer needed, and for the older half where that makes little room.
    ///
    /// Each time costs a look at all of it, which the room that is made pays for.
    ///
    /// - Parameters:
    ///   - bound: how many entries there may be.
    ///   - isNeeded: whether an entry still says something.
    ///   - made: since when there has been an entry.
    /// - Returns: up to when all entries are gone, needed or not; `nil` where none that is needed had to go.
    package mutating func makeRoom(
        within bound: Int,
        keeping isNeeded: (Element) -> Bool,
        since made: (Element) -> Instant
    ) -> Instant? {
        self = filter(isNeeded)
        guard count > bound / 4 * 3 else { return nil }
        let ages = map(made).sorted()
        guard !ages.isEmpty else { return nil }
        let middle = ages[(ages.count - 1) / 2]
        self = filter { made($0) > middle }
        return middle
    }
}
