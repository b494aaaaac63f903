// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexSockets
package import DuplexWire
import Synchronization

/// The receiver of a connection, while it waits for the next message.
///
/// Waits for room to send, for a pong or for the end are rare, and in ``WebSocketExtras``.
struct SocketWaiters {
    private var receiver: Waiter<Void>?

    /// The identity of every wait of the handler's own task; the others count from 1.
    static var ofHandler: UInt64 { 0 }
    /// Counts the waits of all sockets, so that none needs room for a count.
    private static let lastID = Atomic<UInt64>(0)

    /// The identity of the next wait that isn't of the handler's own task.
    static func nextID() -> UInt64 { lastID.wrappingAdd(1, ordering: .relaxed).newValue }

    var isReceiving: Bool { receiver != nil }

    mutating func receive(_ waiter: Waiter<Void>) { receiver = waiter }

    /// Takes the receiver out, which is to be resumed.
    mutating func takeReceiver() -> Waiter<Void>? {
        defer { receiver = nil }
        return receiver
    }

    /// Takes the receiver out if it waits under this identity.
    mutating func takeReceiver(_ id: UInt64) -> Waiter<Void>? { receiver?.id == id ? takeReceiver() : nil }
}

/// State that few connections need: what observes them, messages in pieces, those who wait for a pong or for the end, and a timer
/// of the end.
///
/// Behind one reference, because an idle connection is little more than the room for what it might need.
final class WebSocketExtras {
    /// What only some connections have, such as those of clients and those that are observed.
    let record: ConnectionRecord?
    /// What messages in pieces need; there is none where all are whole.
    fileprivate var streams: PieceTraffic?
    fileprivate var senders: Deque<Waiter<Void>> = []
    fileprivate var pings: [WebSocket.PingWaiter] = []
    fileprivate var closers: [Waiter<Void>] = []
    /// Observers of each round trip.
    fileprivate var latencyWatchers: [UInt64: AsyncStream<Duration>.Continuation] = [:]
    /// Of the end, or of a pause because the peer is too fast.
    fileprivate var deadline: SocketDeadline?
    /// Looks for the peer's close behind a full inbox, while that is received.
    var closeSearch: CloseSearch?
    /// Pings and pongs that wait for the delegate; of a connection with one.
    let controlInbox: ControlInbox?

    init(_ record: ConnectionRecord? = nil, _ streams: PieceTraffic? = nil, _ controlInbox: ControlInbox? = nil) {
        self.record = record
        self.streams = streams
        self.controlInbox = controlInbox
    }
}

extension WebSocket {
    var record: ConnectionRecord? { extras?.record }

    var streams: PieceTraffic? {
        get { extras?.streams }
        set { if extras != nil || newValue != nil { neededExtras.streams = newValue } }
    }

    /// Has a sender wait for room.
    func keepSender(_ waiter: Waiter<Void>) { neededExtras.senders.append(waiter) }

    /// Takes the sender out that has waited longest.
    func takeSender() -> Waiter<Void>? { extras?.senders.popFirst() }

    /// Takes the sender out that waits under this identity.
    func takeSender(_ id: UInt64) -> Waiter<Void>? {
        guard let extras else { return nil }
        return extras.senders.firstIndex { $0.id == id }.map { extras.senders.remove(at: $0) }
    }

    var pings: [PingWaiter] {
        get { extras?.pings ?? [] }
        set { if extras != nil || !newValue.isEmpty { neededExtras.pings = newValue } }
    }

    var closers: [Waiter<Void>] {
        get { extras?.closers ?? [] }
        set { if extras != nil || !newValue.isEmpty { neededExtras.closers = newValue } }
    }

    var latencyWatchers: [UInt64: AsyncStream<Duration>.Continuation] {
        get { extras?.latencyWatchers ?? [:] }
        set { if extras != nil || !newValue.isEmpty { neededExtras.latencyWatchers = newValue } }
    }

    /// Has the deadline come at an instant, in place of another one.
    func setDeadline(_ purpose: SocketDeadline.Purpose, at instant: Instant) {
        clearDeadline()
        neededExtras.deadline = SocketDeadline(timer: channel.core.schedule(self, at: instant), purpose: purpose)
    }

    /// Gives the end, or the peer, as long as a closing handshake may take; nothing where a deadline runs for that.
    func setDeadline(_ purpose: SocketDeadline.Purpose) {
        if extras?.deadline?.purpose == purpose { return }
        setDeadline(purpose, at: channel.core.now.advanced(by: session.closeTimeout))
    }

    func clearDeadline() {
        if let deadline = extras?.deadline { channel.core.cancel(deadline.timer) }
        extras?.deadline = nil
    }

    /// What the deadline was for, if that was its timer; it is over then.
    func takeDeadline(_ timer: TimerID) -> SocketDeadline.Purpose? {
        guard let deadline = extras?.deadline, deadline.timer == timer else { return nil }
        extras?.deadline = nil
        return deadline.purpose
    }

    var closeSearch: CloseSearch? {
        get { extras?.closeSearch }
        set { if extras != nil || newValue != nil { neededExtras.closeSearch = newValue } }
    }

    private var neededExtras: WebSocketExtras {
        if let extras { return extras }
        let made = WebSocketExtras()
        extras = made
        return made
    }

    // MARK: Pings and pongs for the delegate

    /// Keeps a ping or a pong for the delegate, if there is one; pings of the interval aren't kept.
    func keepControlFrame(_ event: WebSocketSession.Event) {
        guard let control = extras?.controlInbox else { return }
        let told: ToldEvent
        switch event {
        case .ping: told = .ping(session.controlPayload)
        case .pong(let id, let roundTrip):
            guard control.hasAsked(id) else { return }
            told = .pong(session.controlPayload, roundTrip: roundTrip)
        case .unaskedPong: told = .pong(session.controlPayload, roundTrip: nil)
        default: return
        }
        let delivered = inbox.hasDelivered ? 1 : 0
        let waiting = Int(inbox.messageCount) + delivered + (streams?.inbox.messageCount ?? 0)
        control.append(told, behind: control.taken + waiting)
        waiters.takeReceiver()?.resume(returning: ())
    }

    /// The next message, ping or pong; `nil` once the connection has ended in order.
    ///
    /// Of a connection whose setup asks for it, on which nothing else receives.
    package func nextTold() async throws -> ToldEvent? {
        guard let control = extras?.controlInbox else { return try await nextMessage().map(ToldEvent.message) }
        if control.isDue { return control.takeFirst() }
        if let message = takeMessage() { return take(message, control) }
        do {
            try await waitForTold(control)
        } catch {
            if let event = control.takeFirst() { return event }
            throw error
        }
        if let message = takeDelivered() { return take(message, control) }
        // What it was resumed for, or what came before the end.
        return control.takeFirst()
    }

    private func waitForTold(_ control: ControlInbox) async throws {
        let id = SocketWaiters.nextID()
        try await waitOnLoop(id: id, isolation: self) { waiter in
            if control.isDue { waiter.resume(returning: ()) } else { wait(waiter) }
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancelReceiver(id) } }
        }
    }

    private func take(_ message: Message, _ control: ControlInbox) -> ToldEvent {
        control.taken += 1
        return .message(message)
    }

    /// Sends a ping whose pong is reported.
    package func askForPong(_ payload: [UInt8]) {
        guard canSend else { return }
        let id = session.ping(payload, now: loop.clock.now())
        extras?.controlInbox?.asks(id)
        writeControlOutput()
    }
}

/// What arrives for a delegate.
package enum ToldEvent: Sendable, Equatable {
    case message(Message)
    case ping([UInt8])
    /// With the time since its ping, if a ping asked for it.
    case pong([UInt8], roundTrip: Duration?)
}

/// Pings and pongs that wait for the delegate, each behind the messages that came before it.
///
/// Beside the inbox of the messages, which knows nothing of it: only connections with a delegate have one.
final class ControlInbox {
    private var items: Deque<(behind: Int, event: ToldEvent)> = []
    /// How many messages were taken.
    var taken = 0
    /// The pings of the delegate's side whose pongs haven't come, the oldest first.
    private var asked: Deque<UInt64> = []

    /// The most that wait; the oldest makes way for one more.
    static let bound = 64

    /// Keeps what has come behind so many messages.
    func append(_ event: ToldEvent, behind count: Int) {
        if items.count == Self.bound { items.removeFirst() }
        items.append((count, event))
    }

    /// Whether all messages before the next were taken.
    var isDue: Bool { items.first.map { $0.behind <= taken } ?? false }

    /// Takes the next, whatever is before it.
    func takeFirst() -> ToldEvent? { items.popFirst()?.event }

    /// Throws away what waits.
    func drop() { items = [] }

    /// Takes note of a ping of the delegate's side.
    func asks(_ id: UInt64) {
        if asked.count == Self.bound { asked.removeFirst() }
        asked.append(id)
    }

    /// Whether that ping was of the delegate's side; those before it count as answered with it.
    func hasAsked(_ id: UInt64) -> Bool {
        guard let index = asked.firstIndex(of: id) else { return false }
        asked.removeFirst(index + 1)
        return true
    }
}

/// Who sends on a connection besides its handler, and is to know of room and of the end; called on the loop.
///
/// A connection has one; see ``WebSocket/follower``.
package protocol SocketFollower: AnyObject {
    /// There is room again, behind a time without.
    func becameWritable(_ socket: isolated WebSocket)

    /// The connection has ended; nothing follows.
    func ended()

    /// How many messages it has dropped because the client was behind.
    var droppedMessages: Int { get }
}
