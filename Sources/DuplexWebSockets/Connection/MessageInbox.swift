// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexWire

/// What a connection has received and the app hasn't taken: whole messages, and behind them bytes that aren't parsed yet.
///
/// A turn parses a bounded number of frames. What it leaves stays here, and is parsed in front of what comes later.
struct MessageInbox {
    private var messages: Deque<Message> = []
    /// The bytes of the messages.
    private(set) var byteCount = 0
    /// The number of messages, in a plain field: each message that arrives asks.
    private(set) var messageCount: Int32 = 0
    /// How many more frames are parsed in this turn; with a synchronous handler only whether any are.
    var allowance = MessageInbox.framesPerTurn
    /// How many messages the last parsing took the short way.
    var parsedMessages: Int32 = 0
    /// Where in ``rest`` the bytes begin that aren't parsed.
    private(set) var restStart: Int32 = 0
    private var rest: [UInt8] = []
    /// The message that the receiver is being resumed for.
    ///
    /// Handed over here rather than through the continuation, whose task would keep room for it while it waits.
    private(set) var delivered: Message?
    /// Whether more is received behind a full inbox, or what came in front of a known end isn't parsed yet; either way it lies in
    /// the rest.
    private(set) var isAhead = false
    /// Whether the rest is moved out, to be parsed: until then nobody knows what is left of it.
    private(set) var isParsing = false
    /// Whether the rest is looked at at the end of this turn.
    private(set) var isRestPlanned = false

    /// The most frames of one connection that are parsed in a turn: those who send empty ones keep the others waiting for
    /// some twenty microseconds each.
    static let framesPerTurn: Int32 = 512
    /// How much is received behind a full inbox, so that a close which lies there is answered.
    private static let aheadBound = 64 * 1_024

    // MARK: Messages

    func hasRoom(_ settings: SessionSettings) -> Bool {
        Int(messageCount) < settings.inboxMessages && byteCount < settings.inboxBytes.bytes
    }

    mutating func append(_ message: Message) {
        let size = message.byteCount
        messages.append(message)
        messageCount &+= 1
        byteCount &+= size
    }

    mutating func popFirst() -> Message? {
        guard messageCount > 0, let message = messages.popFirst() else { return nil }
        let size = message.byteCount
        messageCount &-= 1
        byteCount &-= size
        return message
    }

    /// Keeps the message that the receiver is resumed for.
    mutating func deliver(_ message: Message?) { delivered = message }

    mutating func takeDelivered() -> Message? {
        defer { delivered = nil }
        return delivered
    }

    /// Throws away what waits, parsed or not.
    mutating func drop() {
        messages = []
        (messageCount, byteCount) = (0, 0)
        dropRest()
    }

    // MARK: Bytes that aren't parsed

    var hasRest: Bool { !rest.isEmpty }

    /// Keeps bytes, of which so many are parsed.
    mutating func keep(_ bytes: [UInt8], parsed count: Int = 0) {
        (rest, restStart) = (bytes, Int32(count))
    }

    /// Puts bytes behind the others.
    mutating func append(rest bytes: RawSpan) {
        if restStart > 0 { rest.removeFirst(Int(restStart)) }
        restStart = 0
        rest.append(bytes)
    }

    /// Moves the bytes out to be parsed, until ``endParsing()``; what is left goes back by ``keep(_:parsed:)`` and stays where it
    /// lies.
    mutating func beginParsing() -> (bytes: [UInt8], start: Int) {
        defer { (rest, restStart, isParsing) = ([], 0, true) }
        return (rest, Int(restStart))
    }

    mutating func endParsing() { isParsing = false }

    mutating func dropRest() { (rest, restStart) = ([], 0) }

    /// A copy of the reference to the bytes, for who looks at them from ``restStart`` on.
    var restBytes: [UInt8] { rest }

    // MARK: Ahead

    mutating func beginAhead() { isAhead = true }
    mutating func endAhead() { isAhead = false }

    /// How many more bytes are received behind a full inbox.
    var aheadRoom: Int { Self.aheadBound - (rest.count - Int(restStart)) }

    // MARK: The turn

    /// Notes that the rest is looked at at the end of this turn.
    ///
    /// - Returns: false where that is so already.
    mutating func planRest() -> Bool {
        defer { isRestPlanned = true }
        return !isRestPlanned
    }

    /// The turn is over.
    ///
    /// - Returns: whether the rest was to be looked at.
    mutating func endPlan() -> Bool {
        defer { isRestPlanned = false }
        return isRestPlanned
    }
}
