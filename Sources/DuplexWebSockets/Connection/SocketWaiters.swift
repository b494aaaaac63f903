// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexSockets

/// Who waits for a connection: one for the next message, any number for room to send.
///
/// Those who wait for a pong or for the end are few, and in ``WebSocketExtras``.
struct SocketWaiters {
    private var receiver: Waiter<Void>?
    private var senders: Deque<Waiter<Void>> = []
    private var lastID: UInt64 = 0

    /// The identity of every wait of the handler's own task; the others count from 1.
    static var ofHandler: UInt64 { 0 }

    /// The identity of the next wait.
    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    // MARK: The receiver

    var isReceiving: Bool { receiver != nil }

    mutating func receive(_ waiter: Waiter<Void>) { receiver = waiter }

    /// Takes the receiver out, which is to be resumed.
    mutating func takeReceiver() -> Waiter<Void>? {
        defer { receiver = nil }
        return receiver
    }

    /// Takes the receiver out if it waits under this identity.
    mutating func takeReceiver(_ id: UInt64) -> Waiter<Void>? { receiver?.id == id ? takeReceiver() : nil }

    // MARK: The senders

    mutating func send(_ waiter: Waiter<Void>) { senders.append(waiter) }

    /// Takes the sender out that has waited longest.
    mutating func takeSender() -> Waiter<Void>? { senders.popFirst() }

    /// Takes the sender out that waits under this identity.
    mutating func takeSender(_ id: UInt64) -> Waiter<Void>? {
        senders.firstIndex { $0.id == id }.map { senders.remove(at: $0) }
    }
}
