// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The messages of a reconnecting client that wait to be sent, or were sent and not acknowledged; bounded.
///
/// It does no I/O: the owner of a connection takes messages out, and reports when they couldn't be written and when the
/// connection has ended.
public struct ReconnectOutbox: Sendable {
    /// The guarantee for each message.
    public enum Delivery: Sendable {
        /// It is written to one connection at most: it may be lost together with that connection, and never comes twice.
        case atMostOnce
        /// It is written again, in order, to each connection that follows until it is acknowledged: it may come more than
        /// once, and isn't lost while the client lives.
        ///
        /// `isAcknowledged` says whether a message that came acknowledges one that was sent. It is called on the loop of
        /// the client for each message that comes and each that is unacknowledged, so it must be quick.
        case atLeastOnce(isAcknowledged: @Sendable (_ sent: Message, _ by: Message) -> Bool)
    }

    /// A message, and how it is to be sent.
    public struct Entry: Sendable, Hashable {
        /// The message.
        public var message: Message
        /// Whether it is to be compressed; `nil` leaves that to the connection.
        public var compress: Bool?

        /// Makes an entry.
        ///
        /// - Parameters:
        ///   - message: the message.
        ///   - compress: whether it is to be compressed. Default: the connection decides.
        public init(_ message: Message, compress: Bool? = nil) {
            self.message = message
            self.compress = compress
        }
    }

    /// The guarantee for each message.
    public let delivery: Delivery
    /// The most messages that are kept.
    public let messageLimit: Int
    /// The most bytes that are kept, unless it is one message alone.
    public let byteLimit: ByteCount

    /// Those that are kept, in the order of the calls; what lies before ``first`` is gone.
    private var entries: [Entry] = []
    private var first = 0
    /// How many of those that are kept were written to the present connection.
    private var written = 0
    private var bytes = 0

    /// Makes an empty one.
    ///
    /// - Parameters:
    ///   - delivery: the guarantee for each message.
    ///   - messageLimit: the most messages that are kept; one at least.
    ///   - byteLimit: the most bytes that are kept.
    public init(_ delivery: Delivery, messageLimit: Int, byteLimit: ByteCount) {
        self.delivery = delivery
        self.messageLimit = max(1, messageLimit)
        self.byteLimit = byteLimit
    }

    /// How many are kept.
    public var count: Int { entries.count - first }

    /// The bytes of those that are kept.
    public var byteCount: Int { bytes }

    /// Those that are kept: not written, or not acknowledged.
    public var undelivered: [Message] { entries[first...].map(\.message) }

    /// Whether a message fits.
    public func hasRoom(for message: Message) -> Bool {
        count == 0 || (count < messageLimit && bytes + message.byteCount <= byteLimit.bytes)
    }

    /// Whether a message could be written past the outbox: nothing waits in it, and nothing is kept for an acknowledgement.
    public var passesOn: Bool {
        guard case .atMostOnce = delivery else { return false }
        return first == entries.count
    }

    /// Adds a message after the others.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - compress: whether it is to be compressed, on whichever connection. Default: the connection decides.
    public mutating func append(_ message: Message, compress: Bool? = nil) {
        entries.append(Entry(message, compress: compress))
        bytes += message.byteCount
    }

    /// The next message to be written to the present connection; `nil` when there is none.
    public var next: Entry? { written < count ? entries[first + written] : nil }

    /// Takes note that ``next`` was written.
    public mutating func wrote() {
        guard written < count else { return }
        switch delivery {
        case .atLeastOnce: written += 1
        case .atMostOnce: removeFirst()
        }
    }

    /// Takes note that the connection has ended: what isn't acknowledged comes again, first.
    public mutating func connectionEnded() {
        written = 0
    }

    /// Looks for what a message acknowledges, on whichever connection it came.
    ///
    /// - Returns: how many messages are acknowledged by it.
    @discardableResult
    public mutating func received(_ message: Message) -> Int {
        guard case .atLeastOnce(let isAcknowledged) = delivery else { return 0 }
        var found = 0
        // What came late, for a message that waits to be written again, counts as well.
        var index = first
        while index < entries.count {
            guard isAcknowledged(entries[index].message, message) else {
                index += 1
                continue
            }
            found += 1
            if index - first < written { written -= 1 }
            if index == first {
                removeFirst()
                index = first
            } else {
                bytes -= entries.remove(at: index).message.byteCount
            }
        }
        return found
    }

    private mutating func removeFirst() {
        bytes -= entries[first].message.byteCount
        first += 1
        // Moved up once half of the array is gone, so that each message is moved about once.
        if first == entries.count || first > 64 && first > entries.count / 2 {
            entries.removeFirst(first)
            first = 0
        } else {
            entries[first - 1] = Entry(.binary([]))
        }
    }
}
