// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// The last messages of one topic.
struct TopicHistory: Sendable {
    /// Tells the offsets of this history from others'; with a backplane it is that of all nodes, and may change.
    private(set) var epoch: String
    /// What is added to an offset for its number here.
    ///
    /// Numbers go on when offsets begin anew; the sum wraps.
    private var shift: UInt64 = 0
    private let time: Duration
    private var events: EventHistory<TopicEntry>

    init(_ epoch: String, _ options: TopicOptions.History) {
        self.epoch = epoch
        time = options.time
        events = EventHistory(epoch: epoch, keeping: options.count, size: options.size)
    }

    var isEmpty: Bool { events.count == 0 }
    var size: Int { events.byteCount }
    var lastNumber: UInt64 { events.lastNumber }
    var firstNumber: UInt64 { events.firstNumber }

    /// Where the last message stands.
    var position: TopicPosition { TopicPosition(epoch: epoch, offset: events.lastNumber &- shift) }

    /// The number here of the message with an offset.
    func number(of offset: UInt64) -> UInt64 { offset &+ shift }

    /// The offset of the message with a number here.
    func offset(of number: UInt64) -> UInt64 { number &- shift }

    /// Forgets all messages, and goes on with others: of this epoch, or of one whose offsets begin anew.
    mutating func restart(_ epoch: String, behind offset: UInt64) {
        if epoch == self.epoch, offset >= position.offset {
            events.restart(behind: number(of: offset))
        } else {
            events.restart(behind: events.lastNumber == 0 ? offset : events.lastNumber)
            self.epoch = epoch
            shift = events.lastNumber &- offset
        }
    }

    /// Adds a message, and removes what is too old.
    mutating func append(_ entry: TopicEntry, at now: Instant) {
        expire(at: now)
        events.append(entry, id: nil, size: entry.size, at: now)
    }

    mutating func expire(at now: Instant) {
        events.removeAll(before: now.advanced(by: .zero - time))
    }

    /// Makes room by the oldest messages.
    mutating func shrink(to size: Int) {
        events.shrink(to: size)
    }

    /// Where a subscriber begins.
    ///
    /// - Returns: the number behind which it goes on, and whether nothing that it asked for is missing.
    func place(_ replay: TopicReplay) -> (number: UInt64, isComplete: Bool) {
        switch replay {
        case .none: return (events.lastNumber, true)
        case .last(let count): return (events.place(beforeLast: count), true)
        case .after(let position):
            let isKnown = position.epoch == epoch && position.offset <= self.position.offset
            guard isKnown, position.offset + 1 >= events.firstNumber &- shift else {
                return (events.firstNumber - 1, false)
            }
            return (number(of: position.offset), true)
        }
    }

    /// What follows behind a message; `nil` when some of it isn't kept any more.
    func entries(behind number: UInt64, limit: Int = .max) -> [TopicEntry]? {
        events.elements(behind: number, limit: min(limit, Int(Int32.max)))
    }
}
