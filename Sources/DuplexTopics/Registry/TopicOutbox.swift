// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexWire

/// The numbers of the messages that this node publishes, by topics: what is sent again is known by them.
struct PublicationNumbers: Sendable {
    private struct Last: Sendable {
        var series: UInt64
        var number: UInt64
    }

    /// Tells this node from others.
    let node: String
    private let limit: Int
    private var lasts: [String: Last] = [:]
    private var series: UInt64 = 0

    /// Makes numbers of which so many topics' are remembered.
    init(node: String, limit: Int) {
        self.node = node
        self.limit = max(1, limit)
    }

    /// The next number of a topic, and whose series it is in.
    ///
    /// A series begins with 1. When it was forgotten another one begins, since its last number isn't known.
    mutating func next(of topic: String) -> (origin: String, number: UInt64) {
        if lasts[topic] == nil {
            if lasts.count >= limit { lasts = [:] }
            series += 1
        }
        lasts[topic, default: Last(series: series, number: 0)].number += 1
        let last = lasts[topic] ?? Last(series: series, number: 1)
        return ("\(node).\(last.series)", last.number)
    }
}

/// What is on its way to the backplane, numbered and in order, for one thread at a time to hand on.
struct TopicOutbox: Sendable {
    /// A message with all that the backplane gets with it.
    struct Item: Sendable {
        var message: BackplaneMessage
        var history: TopicOptions.History?
        var completion: @Sendable (Result<TopicPosition?, TopicError>) -> Void
    }

    private var numbers: PublicationNumbers
    private var waiting: Deque<Item> = []
    private var isSending = false
    private var size = 0

    /// How many messages may wait, and how many bytes, while one thread hands them on.
    private static let mostWaiting = 65_536
    private static let sizeLimit = 64 * 1_024 * 1_024

    init(_ numbers: PublicationNumbers) {
        self.numbers = numbers
    }

    /// Puts a message behind the others.
    ///
    /// - Throws: ``TopicError`` with `limitReached` when too many wait.
    mutating func append(
        _ content: Message,
        to topic: String,
        _ history: TopicOptions.History?,
        _ completion: @escaping @Sendable (Result<TopicPosition?, TopicError>) -> Void
    ) throws(TopicError) {
        guard waiting.count < Self.mostWaiting, size < Self.sizeLimit else {
            throw TopicError(.limitReached, "More is published than other machines take.")
        }
        size += content.byteCount
        let (origin, number) = history == nil ? (numbers.node, 0) : numbers.next(of: topic)
        let message = BackplaneMessage(topic: topic, message: content, origin: origin, number: number)
        waiting.append(Item(message: message, history: history, completion: completion))
    }

    /// Whether the caller is the one to hand on what waits; see ``next()``.
    mutating func begin() -> Bool {
        defer { isSending = true }
        return !isSending
    }

    /// Takes the next one out; `nil` ends the handing on.
    mutating func next() -> Item? {
        if waiting.isEmpty { isSending = false }
        let item = waiting.popFirst()
        size -= item?.message.message.byteCount ?? 0
        return item
    }
}
