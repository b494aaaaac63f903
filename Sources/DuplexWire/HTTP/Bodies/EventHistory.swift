// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The last events of a stream, for clients that reconnect with the id of the last event that they have seen.
///
/// Each event has a number; the first one has 1. Of each event is kept what its owner makes of it, such as its bytes.
package struct EventHistory<Element: Sendable>: Sendable {
    private struct Entry: Sendable {
        var element: Element
        var size: Int
        var id: String?
        var instant: Instant?
    }

    /// Where a client goes on.
    package enum Place: Sendable, Hashable {
        /// After the event of this number; 0 stands in front of the first.
        case behind(UInt64)
        /// It lacks events that aren't kept any more, or names one that nobody knows.
        case lost
    }

    private let epoch: String
    private let countLimit: Int
    private let sizeLimit: Int
    /// Those that are kept, from ``first`` on; `nil` stands where one is gone.
    private var entries: [Entry?] = []
    private var first = 0
    /// The numbers of the events that are kept, by their ids.
    private var numbers: [String: UInt64] = [:]

    /// The number of the last event; 0 before the first.
    package private(set) var lastNumber: UInt64 = 0
    /// How many bytes are kept.
    package private(set) var byteCount = 0

    /// Makes an empty history.
    ///
    /// - Parameters:
    ///   - epoch: distinguishes ids of this history from those of others, such as that of the process before; random
    ///     text without a hyphen.
    ///   - count: how many events are kept.
    ///   - size: how many bytes are kept.
    package init(epoch: String, keeping count: Int, size: ByteCount) {
        self.epoch = epoch
        countLimit = max(0, count)
        sizeLimit = size.bytes
    }

    /// How many events are kept.
    package var count: Int { entries.count - first }

    /// The number of the first event that is kept; that of the next one when none is.
    package var firstNumber: UInt64 { lastNumber + 1 - UInt64(count) }

    /// The id of an event that has none of its own: unique in this history and others.
    package func id(of number: UInt64) -> String { "\(epoch)-\(number)" }

    /// What a client that has seen everything names as the last event.
    package var lastID: String { (entries.last ?? nil)?.id ?? id(of: lastNumber) }

    /// Adds an event; the oldest ones make room for it.
    ///
    /// - Parameters:
    ///   - element: what is kept of it.
    ///   - id: its id; `nil` for ``id(of:)`` of its number.
    ///   - size: how many bytes it has.
    ///   - instant: when this is, for ``removeAll(before:)``. Default: it isn't removed by time.
    package mutating func append(_ element: Element, id: String?, size: Int, at instant: Instant? = nil) {
        lastNumber += 1
        entries.append(Entry(element: element, size: size, id: id, instant: instant))
        byteCount += size
        if let id { numbers[id] = lastNumber }
        while count > 0, count > countLimit || byteCount > sizeLimit { removeFirst() }
    }

    /// Removes the events that were added before an instant.
    package mutating func removeAll(before instant: Instant) {
        while count > 0, let added = entries[first]?.instant, added < instant { removeFirst() }
    }

    /// Removes the oldest events until what is kept has so many bytes at most.
    package mutating func shrink(to size: Int) {
        while count > 0, byteCount > size { removeFirst() }
    }

    /// Removes all events, and goes on after a number: those up to it are taken for ones that aren't kept any more.
    package mutating func restart(behind number: UInt64) {
        shrink(to: -1)
        lastNumber = number
    }

    private mutating func removeFirst() {
        guard let entry = entries[first] else { return }
        if let id = entry.id, numbers[id] == firstNumber { numbers[id] = nil }
        byteCount -= entry.size
        entries[first] = nil
        first += 1
        // Moved up once half of the array is gone, so that each event is moved about once.
        guard first == entries.count || first > 64 && first > entries.count / 2 else { return }
        entries.removeFirst(first)
        first = 0
    }

    /// Where a client goes on.
    ///
    /// - Parameter lastEventID: the last event that it has seen.
    /// - Returns: the place.
    package func place(behind lastEventID: String) -> Place {
        guard let number = numbers[lastEventID] ?? number(of: lastEventID) else { return .lost }
        return number + 1 >= firstNumber ? .behind(number) : .lost
    }

    /// The number that one of this history's own ids stands for.
    private func number(of id: String) -> UInt64? {
        let parts = id.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == epoch, let number = UInt64(parts[1]) else { return nil }
        return number <= lastNumber ? number : nil
    }

    /// The place in front of the last so many events, or of all that are kept.
    package func place(beforeLast count: Int) -> UInt64 {
        lastNumber - UInt64(max(0, min(count, self.count)))
    }

    /// The events after a place, in their order.
    ///
    /// - Parameters:
    ///   - number: the place.
    ///   - limit: how many at most.
    /// - Returns: the events; `nil` when some that lie behind the place aren't kept any more.
    package func elements(behind number: UInt64, limit: Int) -> [Element]? {
        guard number <= lastNumber, number + 1 >= firstNumber else { return nil }
        let start = first + Int(number + 1 - firstNumber)
        return entries[start..<min(entries.count, start + limit)].compactMap { $0?.element }
    }
}
