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
    var pausedSince = Instant(nanoseconds: 0)

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
