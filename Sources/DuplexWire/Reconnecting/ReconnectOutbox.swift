// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The messages of a reconnecting client that wait to be sent, or were sent and not acknowledged; bounded.
///
/// It does no I/O: the owner of a connection takes messages out, and reports when they couldn't be written and when the
/// connection has ended.
@usableFromInline
package struct ReconnectOutbox: Sendable {
    /// A message, and how it is to be sent.
    @usableFromInline
    package struct Entry: Sendable, Hashable {
        /// The message.
        package var message: Message
        /// Whether it is to be compressed; `nil` leaves that to the connection.
        package var compress: Bool?

        /// Makes an entry.
        ///
        /// - Parameters:
        ///   - message: the message.
        ///   - compress: whether it is to be compressed. Default: the connection decides.
        package init(_ message: Message, compress: Bool? = nil) {
            self.message = message
            self.compress = compress
        }
    }

    /// The guarantee for each message.
    package let delivery: ReconnectDelivery
    /// The most messages that are kept.
    package let messageLimit: Int
    /// The most bytes that are kept, unless it is one message alone.
    package let byteLimit: ByteCount

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
    package init(_ delivery: ReconnectDelivery, messageLimit: Int, byteLimit: ByteCount) {
        self.delivery = delivery
        self.messageLimit = max(1, messageLimit)
        self.byteLimit = byteLimit
    }

    /// How many are kept.
    @usableFromInline package var count: Int { entries.count - first }

    /// The bytes of those that are kept.
    @usableFromInline package var byteCount: Int { bytes }

    /// Those that are kept: not written, or not acknowledged.
    package var undelivered: [Message] { entries[first...].map(\.message) }

    /// Whether a message fits.
    @usableFromInline package func hasRoom(for message: Message) -> Bool {
        count == 0 || (count < messageLimit && bytes + message.byteCount <= byteLimit.bytes)
    }

    /// Whether a message could be written past the outbox: nothing waits in it, and nothing is kept for an acknowledgement.
    @usableFromInline package var passesOn: Bool {
        guard case .atMostOnce = delivery else { return false }
        return first == entries.count
    }

    /// Adds a message after the others.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - compress: whether it is to be compressed, on whichever connection. Default: the connection decides.
    package mutating func append(_ message: Message, compress: Bool? = nil) {
        entries.append(Entry(message, compress: compress))
        bytes += message.byteCount
    }

    /// The next message to be written to the present connection; `nil` when there is none.
    @usableFromInline package var next: Entry? { written < count ? entries[first + written] : nil }

    /// Takes note that ``next`` was written.
    package mutating func wrote() {
        guard written < count else { return }
        switch delivery {
        case .atLeastOnce: written += 1
        case .atMostOnce: removeFirst()
        }
    }

    /// Takes note that the connection has ended: what isn't acknowledged comes again, first.
    package mutating func connectionEnded() {
        written = 0
    }

    /// Looks for what a message acknowledges, on whichever connection it came.
    ///
    /// - Returns: how many messages are acknowledged by it.
    @discardableResult
    package mutating func received(_ message: Message) -> Int {
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
