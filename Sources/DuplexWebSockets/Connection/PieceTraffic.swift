// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexSockets
import DuplexWire

/// What a connection needs beyond whole messages, behind one reference: there is none where it isn't used.
///
/// Belongs to its connection's loop.
final class PieceTraffic {
    // In pieces, inwards.

    var inbox = FragmentInbox()
    /// Whether messages are received in pieces.
    var isReceiving = false
    /// Whether the one who waits to receive wants a whole message.
    var isGathering = false
    /// Which message is being read, counted from 1.
    var messageNumber: UInt64 = 0

    /// What was read of the stream of bytes and not given.
    var streamRest: [UInt8] = []

    /// Whether this library closed the connection by itself, because what was begun couldn't be completed.
    var isEndedFromWithin = false

    // In pieces, outwards.

    /// The one whose message is being sent.
    var writer: UInt64?
    /// What waits until that message has ended, in the order of the calls.
    var held: Deque<Held> = []
    var heldBytes = 0
    /// The senders of what waits, with the number of the last message that they wait for.
    var heldSenders: Deque<(ticket: UInt64, waiter: Waiter<Void>)> = []
    /// The numbers of the messages that were held, and that were let go.
    var lastTicket: UInt64 = 0
    var lastReleased: UInt64 = 0

    // How fast the peer may send.

    var rates: ReceivingRates?
    /// Whether nothing is read for a while, as the peer was too fast.
    var isPaused = false
    /// From when on that isn't given back yet to the message that is arriving.
    fileprivate var pausedSince = Instant(nanoseconds: 0)

    /// What waits for its turn to be sent.
    enum Held {
        case message(Message.Kind, [UInt8], compress: Bool?)
        case writer(Message.Kind, compress: Bool, Waiter<Void>)
    }

    func hold(_ kind: Message.Kind, _ bytes: [UInt8], compress: Bool?) {
        held.append(.message(kind, bytes, compress: compress))
        heldBytes += bytes.count
        lastTicket += 1
    }

    /// Takes the writer out that waits under this identity.
    func removeWriter(_ id: UInt64) -> Waiter<Void>? {
        for index in held.indices {
            guard case .writer(_, _, let waiter) = held[index], waiter.id == id else { continue }
            held.remove(at: index)
            return waiter
        }
        return nil
    }

    /// Takes the sender out that waits under this identity; its message stays.
    func removeSender(_ id: UInt64) -> Waiter<Void>? {
        guard let index = heldSenders.firstIndex(where: { $0.waiter.id == id }) else { return nil }
        return heldSenders.remove(at: index).waiter
    }

    /// Throws away what has come and wasn't read.
    func drop() {
        inbox.drop()
        streamRest = []
    }

    /// Takes out everybody who waits, with what they wait for.
    func dropHeld() -> [Waiter<Void>] {
        var waiters = heldSenders.map(\.waiter)
        for case .writer(_, _, let waiter) in held { waiters.append(waiter) }
        held = []
        heldBytes = 0
        heldSenders = []
        return waiters
    }
}

/// The pieces of messages that wait for the app, in their order.
///
/// Small pieces of one message are put together, so that what is held is about the bytes that have come. Texts are cut
/// between characters, not within.
struct FragmentInbox {
    /// A part of a message.
    struct Item: Equatable {
        var kind: Message.Kind
        var isFirst: Bool
        var isLast: Bool
        var bytes: [UInt8]
    }

    private(set) var items: Deque<Item> = []
    /// The bytes of the items, and the number of messages that end in them.
    private(set) var byteCount = 0
    private(set) var messageCount = 0
    /// Whether a message was begun by the reader, and its end not taken.
    private(set) var isReading = false
    /// Whether something was thrown away, so that nothing behind it can be given.
    private(set) var isCut = false
    /// How often something was kept.
    private(set) var appended = 0
    /// The beginning of a character, whose rest is to come.
    private var tail: [UInt8] = []
    /// Whether what is appended next begins a message.
    private var isAtStart = true

    /// The most bytes of an item that more are put to.
    private static let largest = MessagePiece.largest

    var isEmpty: Bool { items.isEmpty }

    /// Nothing that comes from here on is of use, as there was no room for all of it.
    mutating func cut() { isCut = true }

    /// Throws away what there is, and nothing is kept any more: a message that is being read doesn't come to its end.
    mutating func drop() {
        cut()
        items = []
        tail = []
        (byteCount, messageCount) = (0, 0)
    }

    // MARK: Arriving

    mutating func append(_ kind: Message.Kind, _ bytes: [UInt8], isLast: Bool) {
        guard !isCut else { return }
        var bytes = bytes
        if !tail.isEmpty {
            bytes = tail + bytes
            tail = []
        }
        if kind == .text && !isLast {
            let rest = Self.unfinished(bytes)
            tail = Array(bytes.suffix(rest))
            bytes.removeLast(rest)
        }
        if bytes.isEmpty && !isLast { return }
        appended &+= 1
        byteCount += bytes.count
        if isLast { messageCount += 1 }
        if !isAtStart, let last = items.last, !last.isLast, last.bytes.count + bytes.count <= Self.largest {
            items[items.count - 1].bytes += bytes
            items[items.count - 1].isLast = isLast
        } else {
            items.append(Item(kind: kind, isFirst: isAtStart, isLast: isLast, bytes: bytes))
        }
        isAtStart = isLast
    }

    /// The number of bytes at the end of a text that begin a character and don't end it; the text is UTF-8 so far.
    static func unfinished(_ bytes: [UInt8]) -> Int {
        for back in 1...3 where back <= bytes.count {
            let byte = bytes[bytes.count - back]
            if byte & 0xC0 == 0x80 { continue }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > back ? back : 0
        }
        return 0
    }

    // MARK: Reading

    /// Throws away what there is of the message that is being read.
    mutating func skip() {
        while isReading, takeItem() != nil {}
    }

    /// Begins to read the next message, if there is something of one.
    mutating func beginMessage() -> Message.Kind? {
        guard !isReading, let first = items.first else { return nil }
        isReading = true
        return first.kind
    }

    /// Puts a whole message before all others.
    mutating func prepend(_ message: Message) {
        let bytes =
            switch message {
            case .text(let text): Array(text.utf8)
            case .binary(let bytes): bytes
            }
        items.prepend(Item(kind: message.kind, isFirst: true, isLast: true, bytes: bytes))
        byteCount += bytes.count
        messageCount += 1
    }

    /// Takes the next item of the message that is being read.
    mutating func takeItem() -> Item? {
        guard isReading, let item = items.popFirst() else { return nil }
        byteCount -= item.bytes.count
        if item.isLast {
            messageCount -= 1
            isReading = false
        }
        return item
    }

    // MARK: Whole messages

    /// How far putting a message together came.
    enum Gathering: Equatable {
        case whole(Message)
        case unfinished
        case tooLarge
    }

    /// Puts the next message together, which stays its first item until it is whole.
    mutating func gather(limit: Int) -> Gathering {
        skip()
        guard !isReading, var first = items.popFirst() else { return .unfinished }
        while !first.isLast, let next = items.popFirst() {
            first.bytes += next.bytes
            first.isLast = next.isLast
        }
        if first.bytes.count > limit {
            items.prepend(first)
            return .tooLarge
        }
        guard first.isLast else {
            items.prepend(first)
            return .unfinished
        }
        byteCount -= first.bytes.count
        messageCount -= 1
        return .whole(Message(first.kind, first.bytes))
    }
}

// MARK: Peers that send too much

// They are read more slowly; see `MessageLimits.messageRate`.

extension WebSocket {
    /// Counts what was parsed, and stops reading for a while if it was too much.
    func charge(_ bytes: Int, _ streams: PieceTraffic) {
        let now = channel.core.now
        let messages = Int(inbox.parsedMessages) + session.takeCountedFrames()
        guard let resume = streams.rates?.charge(messages: messages, bytes: bytes, now: now) else { return }
        // Once an end has begun it is waited for, and that has a deadline of its own.
        guard ending.isTaking, session.state == .open, !streams.isPaused else { return }
        streams.isPaused = true
        streams.pausedSince = now
        updateReading()
        setDeadline(.pause, at: resume)
    }

    /// The time for which reading had to stop is over, or other things matter more.
    func endPause() {
        guard let streams, streams.isPaused else { return }
        excuseMessage(streams, now: channel.core.now)
        streams.isPaused = false
        clearDeadline()
    }

    /// The time of a pause isn't the peer's: the message that is arriving has so much more.
    func excuseMessage(_ streams: PieceTraffic, now: Instant) {
        session.excuseMessage(max(.zero, streams.pausedSince.duration(to: now)))
        streams.pausedSince = now
    }

    /// Goes on reading after a pause.
    func pauseEnded() {
        endPause()
        refill(afterPause: true)
    }
}
