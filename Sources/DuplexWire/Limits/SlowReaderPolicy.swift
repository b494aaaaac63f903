// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What happens when a reader is slower than the sender: output that waits for it is bounded; later versions may add ways.
///
/// Whatever it says, whole elements are dropped and never a part of one. A count is one at least. A size is the most bytes that
/// wait, unless it is one element alone.
@nonexhaustive
public enum SlowReaderPolicy<Element>: Sendable {
    /// The sender waits until the reader has caught up; nothing is lost.
    case wait
    /// The newest elements wait, so many and of that size, and those before them are dropped.
    case dropOldest(keeping: Int, size: ByteCount = .mebibytes(1))
    /// The oldest elements wait, so many and of that size, and those that come while there is no room are dropped.
    case dropNewest(keeping: Int, size: ByteCount = .mebibytes(1))
    /// Of each key the newest element waits, in the order in which the keys last changed.
    ///
    /// The closure gives the key of an element, such as `\.event`; elements without one all wait. Beyond the count or the size the
    /// oldest is dropped.
    case latest(by: @Sendable (Element) -> String?, keeping: Int = 1_000, size: ByteCount = .mebibytes(1))
    /// The reader is ended once more waits for it than that size, or something has waited for longer than the patience.
    ///
    /// Default of the patience: as long as the connection may be idle.
    case end(after: ByteCount = .mebibytes(1), patience: Duration? = nil)

    /// The most elements that wait for the reader.
    var count: Int {
        switch self {
        case .wait: 0
        case .dropOldest(let count, _), .dropNewest(let count, _), .latest(_, let count, _): max(1, count)
        case .end: .max
        }
    }

    /// The most bytes that wait for the reader, unless it is one element alone.
    package var size: ByteCount {
        switch self {
        case .wait: 0
        case .dropOldest(_, let size), .dropNewest(_, let size), .latest(_, _, let size), .end(let size, _): size
        }
    }

    /// Whether the sender waits.
    package var isWaiting: Bool {
        if case .wait = self { true } else { false }
    }

    /// Whether elements have keys, which ``key(of:)`` returns.
    package var hasKeys: Bool {
        if case .latest = self { true } else { false }
    }

    /// Whether elements are dropped, and the reader goes on without them.
    package var drops: Bool {
        switch self {
        case .dropOldest, .dropNewest, .latest: true
        case .wait, .end: false
        }
    }

    /// Whether what comes while there is no room is dropped, and not what waits.
    package var dropsNewest: Bool {
        if case .dropNewest = self { true } else { false }
    }

    /// How long the reader may be behind; `nil` where that isn't bounded, or it isn't ended.
    package var patience: Duration? {
        if case .end(_, let patience) = self { patience } else { nil }
    }

    /// The durations that are set here.
    package var durations: [DurationSetting] { [DurationSetting("patience", optional: patience)] }

    /// Whether another policy is equal; closures can't be compared, so policies with one are never equal.
    package func isSame(as other: Self) -> Bool {
        guard count == other.count, size == other.size else { return false }
        switch (self, other) {
        case (.wait, .wait), (.dropOldest, .dropOldest), (.dropNewest, .dropNewest): return true
        case (.end(_, let patience), .end(_, let others)): return patience == others
        default: return false
        }
    }

    /// What an element shares with those that it takes the place of; `nil` when it takes nobody's.
    package func key(of element: Element) -> String? {
        if case .latest(let key, _, _) = self { key(element) } else { nil }
    }
}

/// What waits for one reader that is behind, in bounds: a queue that drops, conflates or gives up as its
/// ``SlowReaderPolicy`` says.
///
/// It does no I/O and reads no clock: the sender adds elements while the reader is behind, and takes them out when it
/// has caught up.
@usableFromInline
package struct SlowReaderQueue<Element: Sendable>: Sendable {
    /// What happened to an element.
    package enum Outcome: Sendable, Hashable {
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
    package private(set) var count = 0
    /// How many bytes they have.
    package private(set) var byteCount = 0
    /// How many were dropped, or replaced by newer ones of their keys, so far.
    package private(set) var dropped = 0

    /// Makes an empty queue.
    package init<Described>(_ policy: SlowReaderPolicy<Described>) {
        switch policy {
        case .wait: mode = .wait
        case .dropOldest, .latest: mode = .dropOldest
        case .dropNewest: mode = .dropNewest
        case .end(_, let patience): mode = .end(patience)
        }
        countLimit = policy.count
        sizeLimit = policy.size.bytes
    }

    /// Whether nothing waits.
    @usableFromInline package var isEmpty: Bool { count == 0 }

    /// When the reader is to be ended unless it has caught up before; `nil` when it isn't.
    package var deadline: Instant? {
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
    package mutating func append(_ element: Element, size: Int, key: String? = nil, at instant: Instant) -> Outcome {
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
    package mutating func popFirst() -> Element? {
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
