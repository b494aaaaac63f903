// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What waits for one reader that is behind, in bounds: a queue that drops, conflates or gives up as its
/// ``SlowReaderPolicy`` says.
///
/// It does no I/O and reads no clock: the sender adds elements while the reader is behind, and takes them out when it
/// has caught up.
public struct SlowReaderQueue<Element: Sendable>: Sendable {
    /// What happened to an element.
    public enum Outcome: Sendable, Hashable {
        /// It waits; others may have been dropped for it.
        case kept
        /// It was dropped, as there was no room.
        case leftOut
        /// It wasn't taken: its sender is to wait until the reader has caught up.
        case senderWaits
        /// It wasn't taken: the reader is to be ended.
        case readerEnds
    }

    private struct Entry: Sendable {
        var element: Element
        var size: Int
        var key: String?
    }

    private enum Mode: Sendable {
        case wait
        case dropOldest
        case dropNewest
        case end(Duration?)
    }

    private let mode: Mode
    private let countLimit: Int
    private let sizeLimit: Int
    /// Those that wait, in their order, from ``first`` on; `nil` stands where one is gone.
    private var entries: [Entry?] = []
    private var first = 0
    /// How many entries were ever removed from the front of the array.
    private var moved = 0
    /// Where the element of a key is, counted from the first that ever came.
    private var places: [String: Int] = [:]
    private var waitingSince: Instant?

    /// How many elements wait.
    public private(set) var count = 0
    /// How many bytes they have.
    public private(set) var byteCount = 0
    /// How many were dropped, or replaced by newer ones of their keys, so far.
    public private(set) var dropped = 0

    /// Makes an empty queue.
    public init<Described>(_ policy: SlowReaderPolicy<Described>) {
        switch policy.kind {
        case .wait: mode = .wait
        case .dropOldest, .latest: mode = .dropOldest
        case .dropNewest: mode = .dropNewest
        case .end(let patience): mode = .end(patience)
        }
        countLimit = policy.count
        sizeLimit = policy.size.bytes
    }

    /// Whether nothing waits.
    public var isEmpty: Bool { count == 0 }

    /// When the reader is to be ended unless it has caught up before; `nil` when it isn't.
    public var deadline: Instant? {
        guard case .end(let patience?) = mode else { return nil }
        return waitingSince?.advanced(by: patience)
    }

    /// Puts an element after the others.
    ///
    /// - Parameters:
    ///   - element: the element.
    ///   - size: how many bytes it has.
    ///   - key: what ``SlowReaderPolicy/key(of:)`` says of it: it takes the place of the one with the same key.
    ///   - instant: when this is.
    /// - Returns: what happened to it.
    public mutating func append(_ element: Element, size: Int, key: String? = nil, at instant: Instant) -> Outcome {
        switch mode {
        case .wait: return .senderWaits
        case .end:
            guard isEmpty || size <= sizeLimit - byteCount else { return .readerEnds }
        case .dropNewest:
            guard isEmpty || count < countLimit && size <= sizeLimit - byteCount else {
                dropped += 1
                return .leftOut
            }
        case .dropOldest:
            if let key, let place = places[key] { drop(at: place - moved) }
            while !isEmpty, count >= countLimit || size > sizeLimit - byteCount { dropFirst() }
        }
        if waitingSince == nil { waitingSince = instant }
        if let key { places[key] = moved + entries.count }
        entries.append(Entry(element: element, size: size, key: key))
        count += 1
        byteCount += size
        return .kept
    }

    /// Takes out the element that has waited longest.
    public mutating func popFirst() -> Element? {
        while first < entries.count {
            let entry = entries[first]
            entries[first] = nil
            first += 1
            defer { moveUp() }
            guard let entry else { continue }
            forget(entry)
            return entry.element
        }
        return nil
    }

    private mutating func dropFirst() {
        if popFirst() != nil { dropped += 1 }
    }

    private mutating func drop(at index: Int) {
        guard let entry = entries[index] else { return }
        entries[index] = nil
        forget(entry)
        dropped += 1
        moveUp()
    }

    private mutating func forget(_ entry: Entry) {
        if let key = entry.key { places[key] = nil }
        count -= 1
        byteCount -= entry.size
        if count == 0 { waitingSince = nil }
    }

    /// Once half of the array or more is empty, so that each element is moved about once.
    private mutating func moveUp() {
        guard entries.count > 32 ? entries.count > 2 * count : count == 0 else { return }
        moved += entries.count
        entries = entries[first...].filter { $0 != nil }
        moved -= entries.count
        first = 0
        guard !places.isEmpty else { return }
        for (index, entry) in entries.enumerated() {
            if let key = entry?.key { places[key] = moved + index }
        }
    }
}
