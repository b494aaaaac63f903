// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexSockets
public import DuplexWire

// One endless socket over the connections that come and go.

extension ReconnectingWebSocket {
    /// Takes a message to be sent, on the connection that is open or on the next one.
    ///
    /// Messages go in the order of the calls, after the preamble. Returns once the outbox has taken the message, and
    /// waits while the outbox is full (``ReconnectOptions/outboxMessages``, ``ReconnectOptions/outboxBytes``).
    /// Cancelling ends the wait, and the message isn't sent. ``ReconnectOptions/delivery`` has the guarantee; with
    /// acknowledgements somebody has to read ``messages``, or pass received messages to ``acknowledge(by:)``.
    ///
    /// - Throws: ``WebSocketError`` with ``WebSocketError/Code/closed`` once the client has ended; `CancellationError`.
    @inlinable
    @inline(__always)
    public func send(_ message: Message) async throws {
        // Part of the function that calls it, as that of a connection: in an open one's time a call is much.
        if try !sendNow(message, nil) { try await sendLater(message, nil) }
    }

    /// Takes a message to be sent, compressed or not whatever its length.
    ///
    /// Otherwise as ``send(_:)-(Message)``: the choice holds for whichever connections the message is written to, and has no
    /// effect on one without compression.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - compress: as in `WebSocket.send(_:compress:)`.
    /// - Throws: as ``send(_:)-(Message)``.
    public func send(_ message: Message, compress: Bool) async throws {
        if try !sendNow(message, compress) { try await sendLater(message, compress) }
    }

    /// Writes or takes a message that has to wait for nothing; here, since a task may be put off on its way into a
    /// function that waits, and others would come before it.
    ///
    /// - Returns: whether it was taken.
    @usableFromInline
    func sendNow(_ message: Message, _ compress: Bool?) throws -> Bool {
        if writeNow(message, compress) { return true }
        handle(.start)
        if case .ended = machine.phase { throw Self.isOver }
        guard senders.isEmpty && outbox.hasRoom(for: message) else { return false }
        outbox.append(message, compress: compress)
        flush()
        return true
    }

    /// Writes a message if there is a connection that takes it, and nothing that it has to wait for or be kept for.
    private func writeNow(_ message: Message, _ compress: Bool?) -> Bool {
        guard let socket = current?.socket, !isDraining, senders.isEmpty, outbox.passesOn else { return false }
        return write(message, compress, to: socket)
    }

    /// Writes a message to the connection that is open, and sees to it that no more is written than it takes.
    ///
    /// - Returns: whether it was written: one that is ending says so itself, and what wasn't written waits for the next
    ///   one.
    private func write(_ message: Message, _ compress: Bool?, to socket: WebSocket) -> Bool {
        do {
            let isBelowMark =
                if let compress {
                    try socket.onLoop(loop, (message, compress)) { try $0.write($1.0, compress: $1.1) }
                } else {
                    try socket.onLoop(loop, message) { try $0.write($1) }
                }
            if !isBelowMark { drain(socket) }
            return true
        } catch {
            return false
        }
    }

    @usableFromInline
    func sendLater(_ message: Message, _ compress: Bool?) async throws {
        nextWaiterID += 1
        let id = nextWaiterID
        // Decided anew there: the task may have been put off on its way.
        try await waitOnLoop(id: id) { (waiter: Waiter<Void>) in
            if case .ended = machine.phase { return waiter.resume(throwing: Self.isOver) }
            if Task.isCancelled { return waiter.resume(throwing: CancellationError()) }
            senders.append((waiter, ReconnectOutbox.Entry(message, compress: compress)))
            flush()
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancelSender(id) } }
        }
    }

    /// Sends a text; see ``send(_:)-(Message)``.
    public func send(_ text: String) async throws {
        try await send(.text(text))
    }

    /// Sends bytes; see ``send(_:)-(Message)``.
    public func send(_ bytes: [UInt8]) async throws {
        try await send(.binary(bytes))
    }

    static let isOver = WebSocketError(.closed, message: "The client has ended: it doesn't connect any more.")

    private func cancelSender(_ id: UInt64) {
        guard let index = senders.firstIndex(where: { $0.waiter.id == id }) else { return }
        senders.remove(at: index).waiter.resume(throwing: CancellationError())
        // Those behind it may fit.
        flush()
    }

    /// Writes what waits, as far as the connection takes it, and takes what has waited for room.
    func flush() {
        repeat {
            writeWaiting()
        } while admit()
    }

    private func writeWaiting() {
        while !isDraining, let socket = current?.socket, let entry = outbox.next {
            guard write(entry.message, entry.compress, to: socket) else { return }
            outbox.wrote()
        }
    }

    private func admit() -> Bool {
        var hasAdmitted = false
        while let sender = senders.first, outbox.hasRoom(for: sender.entry.message) {
            senders.removeFirst()
            outbox.append(sender.entry.message, compress: sender.entry.compress)
            sender.waiter.resume(returning: ())
            hasAdmitted = true
        }
        return hasAdmitted
    }

    /// Goes on once the connection has sent what it was given.
    private func drain(_ socket: WebSocket) {
        isDraining = true
        Task { [weak self] in
            // If it fails the connection has ended, which is reported elsewhere.
            try? await socket.waitForDrain()
            await self?.drained(socket)
        }
    }

    private func drained(_ socket: WebSocket) {
        guard current?.socket === socket else { return }
        isDraining = false
        flush()
    }

    // MARK: Receiving

    /// The next message of whichever connection; `nil` once the client has ended in order.
    @usableFromInline
    func nextMessage() async throws(WebSocketError) -> Message? {
        while true {
            if reading == nil { reading = try await nextSession() }
            guard let socket = reading else { return nil }
            do throws(WebSocketError) {
                if let message = try await nextMessage(of: socket) { return message }
            } catch {
                // How it ended is for the policy, which decides whether there is another.
                if error.code == .cancelled || error.code == .alreadyReceiving { throw error }
            }
            if reading === socket { reading = nil }
        }
    }

    /// Passes on a message of a session that may acknowledge sent ones; for code that reads ``sessions``.
    ///
    /// Messages of ``messages`` and of a `DelegatedReconnectingWebSocket`'s delegate need no call. Code that reads
    /// `WebSocket.messages` of a session with ``ReconnectOptions/delivery`` at least once has to call this with each,
    /// or everything is sent again on the next connection, and sending waits once the outbox is full.
    ///
    /// - Parameter message: what came, on whichever session.
    /// - Returns: how many messages it acknowledges, which aren't sent again; none with at most once.
    @discardableResult
    public func acknowledge(by message: Message) -> Int {
        let count = outbox.received(message)
        if count > 0 { flush() }
        return count
    }

    /// The next message of one connection, looked at for what it acknowledges; `nil` once it has ended in order.
    @inline(__always)
    package func nextMessage(of socket: WebSocket) async throws(WebSocketError) -> Message? {
        guard let message = try await takeMessage(of: socket) else { return nil }
        acknowledge(by: message)
        return message
    }

    /// The next message of one connection, as its own `nextMessage()` gives it, but without a hop to it and back.
    @inline(__always)
    private func takeMessage(of socket: WebSocket) async throws(WebSocketError) -> Message? {
        let (message, id) = socket.onLoop(loop) { socket, _ in
            socket.nextWaiterID += 1
            return (socket.takeMessage(), socket.nextWaiterID)
        }
        if let message { return message }
        do {
            try await waitOnLoop(id: id) { (waiter: Waiter<Void>) in
                socket.onLoop(loop, waiter) { $0.wait($1) }
            } onCancel: {
                socket.loop.execute { _ in socket.assumeIsolated { $0.cancelReceiver(id) } }
            }
        } catch {
            throw WebSocketError(endOfWait: error)
        }
        return socket.onLoop(loop) { socket, _ in socket.takeDelivered() }
    }

    /// The next connection; `nil` once the client has ended in order.
    package func nextSession() async throws(WebSocketError) -> WebSocket? {
        handle(.start)
        while true {
            if let session = unclaimed {
                unclaimed = nil
                return session
            }
            if case .ended(let end) = machine.phase {
                guard let failure = end.failure, !failure.isOrderly else { return nil }
                throw failure.error
            }
            try await waitForSession()
        }
    }

    /// Waits until there may be another connection, or none any more.
    private func waitForSession() async throws(WebSocketError) {
        nextWaiterID += 1
        let id = nextWaiterID
        do {
            try await waitOnLoop(id: id) { (waiter: Waiter<Void>) in
                // Asked again here: the task may have been put off on its way.
                if Task.isCancelled { return waiter.resume(throwing: CancellationError()) }
                if unclaimed != nil || isOver { waiter.resume(returning: ()) } else { receivers.append(waiter) }
            } onCancel: {
                loop.execute { _ in self.assumeIsolated { $0.cancelReceiver(id) } }
            }
        } catch {
            throw WebSocketError(endOfWait: error)
        }
    }

    private var isOver: Bool { if case .ended = machine.phase { true } else { false } }

    private func cancelReceiver(_ id: UInt64) {
        guard let index = receivers.firstIndex(where: { $0.id == id }) else { return }
        receivers.remove(at: index).resume(throwing: CancellationError())
    }

    func resumeReceivers() {
        for receiver in receivers { receiver.resume(returning: ()) }
        receivers = []
    }

    // MARK: Sequences

    /// Each connection as it is made, after its preamble.
    ///
    /// Ends when the client was closed, or when the server closed in order for good (1000, no code); throws what the
    /// last attempt failed with when the policy gives up. Connections are made whether or not somebody reads the
    /// sequence; one that was not read before the next was open is left out. Leaving the body of a loop doesn't close a
    /// connection; closing it there closes the client.
    ///
    /// All that is thrown is a ``WebSocketError``. An error of the caller's own, of ``ReconnectOptions/configure`` or the
    /// preamble, is the cause of one with ``WebSocketError/Code/unprepared``. Cancelling the task ends the wait with
    /// ``WebSocketError/Code/cancelled``; the client goes on.
    public nonisolated var sessions: Sessions { Sessions(client: self) }

    /// The messages of all connections, one after the other, as if of one socket.
    ///
    /// Ends and throws as ``sessions`` does. Use one of the two.
    public nonisolated var messages: Messages { Messages(client: self) }

    /// The connections of a client; iterated by one task at a time.
    public struct Sessions: AsyncSequence, Sendable {
        let client: ReconnectingWebSocket

        /// Waits for one connection after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let client: ReconnectingWebSocket

            /// The next connection; `nil` once the client has ended in order.
            public mutating func next() async throws(WebSocketError) -> WebSocket? {
                try await client.nextSession()
            }

            /// The next connection; `nil` once the client has ended in order.
            public mutating func next(isolation actor: (any Actor)?) async throws(WebSocketError) -> WebSocket? {
                try await client.nextSession()
            }
        }

        /// Begins to iterate.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(client: client) }
    }

    /// The messages of a client; iterated by one task at a time.
    public struct Messages: AsyncSequence, Sendable {
        let client: ReconnectingWebSocket

        /// Waits for one message after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            @usableFromInline let client: ReconnectingWebSocket

            /// The next message; `nil` once the client has ended in order.
            @inlinable
            public mutating func next() async throws(WebSocketError) -> Message? {
                try await client.nextMessage()
            }

            /// The next message; `nil` once the client has ended in order.
            @inlinable
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(WebSocketError) -> Message? {
                try await client.nextMessage()
            }
        }

        /// Begins to iterate.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(client: client) }
    }

    // MARK: Pings

    /// Sends a ping on the connection that is open and waits for its pong (RFC 6455 section 5.5.2).
    ///
    /// It neither begins an attempt nor waits for one, and it isn't sent again on the next connection.
    ///
    /// - Parameter timeout: how long to wait. Default: 20 s. The connection stays open after a timeout.
    /// - Returns: the time between the two.
    /// - Throws: ``WebSocketError`` with ``WebSocketError/Code/notConnected`` while there is no connection, with
    ///   ``WebSocketError/Code/closed`` once the client has ended, with ``WebSocketError/Code/timedOut``, or with what ended
    ///   the connection; `CancellationError`.
    public func ping(timeout: Duration = .seconds(20)) async throws -> Duration {
        try WebSocketError.check([DurationSetting("timeout", timeout)])
        return try await present().ping(timeout: timeout)
    }

    /// Sends a ping with a payload of your own on the connection that is open, and waits for its pong, which carries the
    /// same.
    ///
    /// - Parameters:
    ///   - payload: what it carries; cut at 125 bytes.
    ///   - timeout: how long to wait. Default: 20 s. The connection stays open after a timeout.
    /// - Returns: the time between the two.
    /// - Throws: as ``ping(timeout:)``.
    public func ping(_ payload: [UInt8], timeout: Duration = .seconds(20)) async throws -> Duration {
        try WebSocketError.check([DurationSetting("timeout", timeout)])
        return try await present().ping(payload, timeout: timeout)
    }

    /// The connection that is open.
    private func present() throws(WebSocketError) -> WebSocket {
        if let socket = current?.socket { return socket }
        if case .ended = machine.phase { throw Self.isOver }
        let message = "There is no connection at present: the client \(machine.phase.words)."
        throw WebSocketError(.notConnected, message: message)
    }
}

extension ReconnectFailure {
    /// Whether it is a connection's end in order, which `messages` of a WebSocket doesn't throw either.
    var isOrderly: Bool {
        guard case .closed(let code) = kind else { return false }
        return [.normalClosure, .goingAway, .noStatusReceived].contains(code)
    }
}

extension ReconnectPhase {
    /// What a client without a connection does.
    fileprivate var words: String {
        switch self {
        case .idle: "wasn't used yet"
        case .connecting: "is connecting"
        case .waiting: "waits before its next attempt"
        case .paused: "is paused"
        case .open, .ended: "has ended"
        }
    }
}
