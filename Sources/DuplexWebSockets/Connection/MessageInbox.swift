// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexSockets
import DuplexWire

/// What a connection has received and the app hasn't taken: whole messages, and behind them bytes that aren't parsed yet.
///
/// A turn parses a bounded number of frames. What it leaves stays here, and is parsed in front of what comes later.
struct MessageInbox: ~Copyable {
    /// The messages and the bytes: an idle connection, and one whose handler is called for each message, has none.
    private var kept = LazyPlace<Kept>()
    /// The number of messages, in a plain field: each message that arrives asks.
    private(set) var messageCount: Int32 = 0
    /// How many more frames are parsed in this turn; with a synchronous handler only whether any are.
    var allowance = SessionSettings.framesPerTurn
    /// How many messages the last parsing took the short way.
    var parsedMessages: Int32 = 0
    /// Whether more is received behind a full inbox, or what came in front of a known end isn't parsed yet; either way it lies in
    /// the rest.
    private(set) var isAhead = false
    /// Whether the rest is moved out, to be parsed: until then nobody knows what is left of it.
    private(set) var isParsing = false
    /// Whether the rest is looked at at the end of this turn.
    private(set) var isRestPlanned = false

    private struct Kept {
        var messages: Deque<Message> = []
        var byteCount = 0
        /// The message that the receiver is being resumed for.
        ///
        /// Handed over here rather than through the continuation, whose task would keep room for it while it waits.
        var delivered: Message?
        var rest: [UInt8] = []
        /// Where in ``rest`` the bytes begin that aren't parsed.
        var restStart = 0
    }

    /// How much is received behind a full inbox, so that a close which lies there is answered.
    private static let aheadBound = 64 * 1_024

    // MARK: Messages

    /// The bytes of the messages.
    var byteCount: Int { kept.read { $0.byteCount } ?? 0 }

    /// Whether the receiver is being resumed for a message.
    var hasDelivered: Bool { kept.read { $0.delivered != nil } == true }

    func hasRoom(_ settings: SessionSettings) -> Bool {
        Int(messageCount) < settings.inboxMessages && byteCount < settings.inboxBytes.bytes
    }

    mutating func append(_ message: Message) {
        let size = message.byteCount
        kept.change(orMake: Kept()) { kept in
            kept.messages.append(message)
            kept.byteCount &+= size
        }
        messageCount &+= 1
    }

    mutating func popFirst() -> Message? {
        guard messageCount > 0 else { return nil }
        let message = kept.change { kept -> Message? in
            guard let message = kept.messages.popFirst() else { return nil }
            kept.byteCount &-= message.byteCount
            return message
        }
        messageCount &-= 1
        return message ?? nil
    }

    /// Keeps the message that the receiver is resumed for.
    mutating func deliver(_ message: Message?) { kept.change(orMake: Kept()) { $0.delivered = message } }

    mutating func takeDelivered() -> Message? { kept.change { $0.delivered.take() } ?? nil }

    /// Throws away what waits, parsed or not.
    mutating func drop() {
        kept.change { kept in
            kept.messages = []
            kept.byteCount = 0
        }
        messageCount = 0
        dropRest()
    }

    // MARK: Bytes that aren't parsed

    var hasRest: Bool { kept.read { !$0.rest.isEmpty } == true }

    /// Keeps bytes, of which so many are parsed.
    mutating func keep(_ bytes: [UInt8], parsed count: Int = 0) {
        if bytes.isEmpty && kept.isEmpty { return }
        kept.change(orMake: Kept()) { ($0.rest, $0.restStart) = (bytes, count) }
    }

    /// Puts bytes behind the others.
    mutating func append(rest bytes: RawSpan) {
        var kept = beginMoving()
        if kept.start > 0 { kept.bytes.removeFirst(kept.start) }
        kept.bytes.append(bytes)
        keep(kept.bytes)
    }

    /// Moves the bytes out to be parsed, until ``endParsing()``; what is left goes back by ``keep(_:parsed:)`` and stays where it
    /// lies.
    mutating func beginParsing() -> (bytes: [UInt8], start: Int) {
        isParsing = true
        return beginMoving()
    }

    private mutating func beginMoving() -> (bytes: [UInt8], start: Int) {
        defer { dropRest() }
        return (restBytes, restStart)
    }

    mutating func endParsing() { isParsing = false }

    mutating func dropRest() {
        kept.change { ($0.rest, $0.restStart) = ([], 0) }
    }

    /// A copy of the reference to the bytes, for who looks at them from ``restStart`` on.
    var restBytes: [UInt8] { kept.read { $0.rest } ?? [] }

    /// Where in ``restBytes`` those begin that aren't parsed.
    var restStart: Int { kept.read { $0.restStart } ?? 0 }

    // MARK: Ahead

    mutating func beginAhead() { isAhead = true }
    mutating func endAhead() { isAhead = false }

    /// How many more bytes are received behind a full inbox.
    var aheadRoom: Int { Self.aheadBound - (kept.read { $0.rest.count - $0.restStart } ?? 0) }

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
