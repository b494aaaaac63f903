// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexServer
import DuplexWire
import Synchronization

/// The last of many items, numbered from 1 on: bounded in number and in bytes, for any number of viewers.
///
/// From any thread; adding takes a lock for a few instructions.
final class LiveRing<Item: Sendable>: Sendable {
    private let count: Int
    private let bytes: Int
    private let state = Mutex(State())

    /// Some items in their order.
    struct Part {
        var items: [Item]
        /// The number of the last of them.
        var position: UInt64
        /// How many were gone.
        var lost: UInt64
        var hasMore: Bool
    }

    private struct State {
        var items: Deque<(item: Item, size: Int)> = []
        /// The bytes of these.
        var size = 0
        /// The number of the last one.
        var last: UInt64 = 0
    }

    /// - Parameters:
    ///   - count: how many are kept at most.
    ///   - bytes: how many bytes they have at most; the last one is kept, whatever it has.
    init(keeping count: Int, _ bytes: ByteCount) {
        self.count = max(1, count)
        self.bytes = bytes.bytes
    }

    /// Adds an item, for which the first ones may have to go.
    ///
    /// - Parameters:
    ///   - size: about how many bytes it holds.
    ///   - make: makes it out of its number.
    func append(size: Int, _ make: (UInt64) -> Item) {
        state.withLock { state in
            state.last += 1
            state.items.append((make(state.last), size))
            state.size += size
            while state.items.count > count || (state.size > bytes && state.items.count > 1) {
                if let first = state.items.popFirst() { state.size -= first.size }
            }
        }
    }

    /// The items behind a number.
    ///
    /// - Parameters:
    ///   - position: the number; 0 for all.
    ///   - limit: how many bytes they have at most; one always goes.
    ///   - newest: of how many the newest are enough; the others count as gone. Default: all.
    /// - Returns: the items.
    func items(since position: UInt64, upTo limit: Int, newest: Int = .max) -> Part {
        state.withLock { state in
            let first = state.last - UInt64(state.items.count) + 1
            // A viewer that has had more than there ever was is one of an earlier process.
            let wanted = position > state.last ? 1 : position + 1
            let begin = max(first, wanted, state.last - UInt64(min(newest, state.items.count)) + 1)
            var (items, size): ([Item], Int) = ([], 0)
            for index in Int(begin - first)..<max(Int(begin - first), state.items.count) {
                let item = state.items[index]
                if size + item.size > limit, !items.isEmpty { break }
                items.append(item.item)
                size += item.size
            }
            let position = begin + UInt64(items.count) - 1
            return Part(items: items, position: position, lost: begin - wanted, hasMore: position < state.last)
        }
    }

    /// All items, the oldest first.
    var all: [Item] { state.withLock { $0.items.map(\.item) } }
}

/// A ring as viewers watch it.
///
/// Each viewer has a topic of its own.
final class LiveRingTopic<Kept: Sendable, Item: Encodable & Sendable>: LiveTopic {
    private let ring: LiveRing<Kept>
    private let newest: Int?
    private let hold: LiveHold?
    private let show: @Sendable (LiveRing<Kept>.Part) -> [Item]
    private let hasBegun = Atomic<Bool>(false)

    /// - Parameters:
    ///   - ring: what is watched.
    ///   - newest: of how many items the newest are enough at a time; the others count as gone. Default: all items are sent,
    ///     in messages as long as the viewer wants them.
    ///   - hold: what fills the ring for as long as there is a topic. The first news are sent then even if they have no items:
    ///     by them the viewer knows that items are kept from now on. Default: the ring is filled whether or not it is watched.
    ///   - show: gives items as this viewer gets them; it may leave some out.
    init(
        _ ring: LiveRing<Kept>,
        newest: Int? = nil,
        holding hold: LiveHold? = nil,
        _ show: @escaping @Sendable (LiveRing<Kept>.Part) -> [Item]
    ) {
        self.ring = ring
        self.newest = newest
        self.hold = hold
        self.show = show
    }

    func news(since position: UInt64, upTo limit: Int) async throws -> LiveNews<Item>? {
        let part = ring.items(since: position, upTo: newest == nil ? limit : .max, newest: newest ?? .max)
        let isFirst = hold != nil && !hasBegun.exchange(true, ordering: .relaxed)
        guard isFirst || part.position != position || part.lost > 0 else { return nil }
        return LiveNews(items: show(part), position: part.position, lost: part.lost, hasMore: part.hasMore)
    }
}

/// Whether somebody watches something that is looked at only then, and for a while after the last viewer, who may only have
/// loaded the page again.
final class LiveWatchers: Sendable {
    private struct State {
        var count = 0
        /// Counts the times that watching began: a wait for its end is over when it has begun anew.
        var turn = 0
    }

    /// How long the while is.
    private let grace: Duration
    private let state = Mutex(State())
    /// Open while somebody watches, or has within the grace.
    let gate = ObserverGate()

    init(grace: Duration) {
        self.grace = grace
    }

    /// Whether somebody watches, or has within the grace.
    ///
    /// Takes no lock.
    var areThere: Bool { gate.isOpen }

    /// How many watch at this moment.
    var count: Int { state.withLock { $0.count } }

    /// Watches for as long as the result is kept.
    ///
    /// - Parameter end: called when the grace is over, if this was the last viewer and no other has come since. Default: nothing.
    /// - Returns: the hold.
    func watch(then end: @escaping @Sendable () async -> Void = {}) -> LiveHold {
        enter()
        return LiveHold {
            guard let turn = self.leave() else { return }
            Task {
                if self.grace > .zero { try? await Task.sleep(for: self.grace) }
                if self.end(since: turn) { await end() }
            }
        }
    }

    /// One more.
    func enter() {
        state.withLock { state in
            state.count += 1
            state.turn += 1
            gate.set(open: true)
        }
    }

    /// One less.
    ///
    /// - Returns: of the last one what ``end(since:)`` takes when the grace is over; `nil` of others.
    func leave() -> Int? {
        state.withLock { state in
            state.count -= 1
            return state.count == 0 ? state.turn : nil
        }
    }

    /// Ends it, unless somebody has come since the last one has left.
    func end(since turn: Int) -> Bool {
        state.withLock { state in
            guard state.count == 0, state.turn == turn else { return false }
            gate.set(open: false)
            return true
        }
    }
}

/// Something that is wanted for as long as this is kept.
final class LiveHold: Sendable {
    private let release: @Sendable () -> Void

    init(_ release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    deinit { release() }
}
