// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import Dispatch
public import DuplexSockets
public import DuplexWebSockets
public import DuplexWire
import Synchronization

/// A client that reconnects, with a delegate, for code that isn't `async`.
///
/// `ReconnectingWebSocket` with the callbacks of XPWebSocket. One object is opened once, keeps itself alive until it has
/// ended, and keeps its delegate weakly. Its methods may be called on any thread and return at once. Where a delegate is
/// called, and which may have state, is as in ``DelegatedWebSocket``.
public final class DelegatedReconnectingWebSocket: Sendable {
    /// What the client does.
    public enum State: Sendable, Hashable {
        /// Nothing: it wasn't opened, or it has ended.
        case idle
        /// It makes attempts, and none has led to a connection yet.
        case connecting
        /// It has its first connection.
        case connected
        /// It has lost a connection, and makes attempts.
        case reconnecting
        /// It has a connection again.
        case reconnected
    }

    /// The client that does the work; its states, for one, say more than those here.
    public let client: ReconnectingWebSocket
    /// The most bytes of messages that wait to be sent; one that doesn't fit is refused by ``send(_:)-(Message)``.
    package let queueLimit: ByteCount
    /// The most messages that wait to be sent.
    package let queueCount: Int
    private let delegates: DelegateQueue<any ReconnectingDelegate>
    private let outbox: AsyncStream<Message>
    private let messages: AsyncStream<Message>.Continuation
    private let shared: Mutex<Shared>

    private struct Shared {
        /// Tells of each state.
        let states = ChangeBroadcast<State>(.idle)
        var state = State.idle { didSet { if state != oldValue { states.tell(state) } } }
        var userData: (any Sendable)?
        var wasOpened = false
        var hasEnded = false
        var queuedBytes = 0
        var queuedMessages = 0
        var connection: WebSocket?
    }

    /// Makes a client, which ``open()`` opens, whose delegate is called on the main queue.
    ///
    /// - Parameters:
    ///   - urls: where to connect to, the preferred one first; one at least.
    ///   - policy: when to connect again, where to, and when to give up.
    ///   - options: how to connect.
    ///   - delegate: gets all events; kept weakly. It may be set later as ``delegate``. Default: none.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the client's.
    ///   - onOpen: the first thing on each connection, such as logging in; as of `ReconnectingWebSocket`. Default: nothing.
    @MainActor
    public convenience init(
        _ urls: [String],
        policy: ReconnectPolicy = ReconnectPolicy(),
        options: ReconnectOptions = ReconnectOptions(),
        delegate: (any ReconnectingDelegate)? = nil,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared,
        onOpen: (@Sendable (isolated WebSocket) async throws -> Void)? = nil
    ) {
        let client = ReconnectingWebSocket(urls, policy: policy, options: options, on: group, onOpen: onOpen)
        self.init(client, .queue(.main), queueLimit, queueCount)
        self.delegate = delegate
    }

    /// Makes a client, which ``open()`` opens, whose delegate is called on a queue of the caller's.
    ///
    /// - Parameters:
    ///   - urls: where to connect to, the preferred one first; one at least.
    ///   - policy: when to connect again, where to, and when to give up.
    ///   - options: how to connect.
    ///   - delegate: gets all events; kept weakly. It may be set later by ``setDelegate(_:)``.
    ///   - queue: where it is called, in order, one call at a time. A concurrent queue is fine.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the client's.
    ///   - onOpen: the first thing on each connection, such as logging in; as of `ReconnectingWebSocket`. Default: nothing.
    public convenience init(
        _ urls: [String],
        policy: ReconnectPolicy = ReconnectPolicy(),
        options: ReconnectOptions = ReconnectOptions(),
        delegate: (any ReconnectingDelegate & Sendable)?,
        queue: DispatchQueue,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared,
        onOpen: (@Sendable (isolated WebSocket) async throws -> Void)? = nil
    ) {
        self.init(
            urls,
            policy: policy,
            options: options,
            delegate: delegate,
            place: .queue(queue),
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group,
            onOpen: onOpen
        )
    }

    /// Makes a client, whose delegate is called on a place of the caller's.
    package convenience init(
        _ urls: [String],
        policy: ReconnectPolicy,
        options: ReconnectOptions,
        delegate: (any ReconnectingDelegate & Sendable)?,
        place: DelegatePlace,
        queueLimit: ByteCount,
        queueCount: Int,
        on group: EventLoopGroup,
        onOpen: (@Sendable (isolated WebSocket) async throws -> Void)? = nil
    ) {
        let client = ReconnectingWebSocket(urls, policy: policy, options: options, on: group, onOpen: onOpen)
        self.init(client, place, queueLimit, queueCount)
        setDelegate(delegate)
    }

    private init(_ client: ReconnectingWebSocket, _ place: DelegatePlace, _ queueLimit: ByteCount, _ queueCount: Int) {
        self.client = client
        self.queueLimit = queueLimit
        self.queueCount = queueCount
        delegates = DelegateQueue(place, label: "duplex.reconnecting")
        (outbox, messages) = AsyncStream.makeStream()
        shared = Mutex(Shared())
    }

    /// The delegate, which gets all events from here on, on the main queue; kept weakly.
    ///
    /// While there is none, messages that come are dropped.
    @MainActor public var delegate: (any ReconnectingDelegate)? {
        get { delegates.delegate }
        set { delegates.tellOnMain { [weak newValue] in newValue } }
    }

    /// Sets the delegate, which gets all events from here on, on the queue that this object was made with; kept weakly.
    ///
    /// - Parameter delegate: may be called on any thread; `nil` for nobody.
    public func setDelegate(_ delegate: (any ReconnectingDelegate & Sendable)?) {
        delegates.tell { [weak delegate] in delegate }
    }

    /// What the client does, as the delegate got it or is about to.
    public var state: State { shared.withLock { $0.state } }

    /// The states from here on, after the present one; ends after the client's end.
    ///
    /// Any number of tasks may observe; one that falls more than 1,024 states behind loses the oldest.
    public var states: AsyncStream<State> { shared.withLock { $0.states }.observe() }

    /// Anything that the app wants to keep with the client.
    public var userData: (any Sendable)? {
        get { shared.withLock { $0.userData } }
        set { shared.withLock { $0.userData = newValue } }
    }

    /// The connection of the delegate's events: its timeline, latency, snapshot, subprotocol and addresses; `nil` while
    /// there is none.
    ///
    /// There is one from the call that reports the client as connected until the delegate has got all of its messages.
    /// Closing it closes the client, and its messages are the delegate's: no other code can receive them.
    public var connection: WebSocket? { shared.withLock { $0.connection } }

    /// Connects; a second call does nothing, and neither does one behind ``close(code:reason:)``.
    public func open() {
        let isFirst = shared.withLock { shared in
            defer { shared.wasOpened = true }
            return !shared.wasOpened
        }
        guard isFirst else { return }
        // Before anything happens, so that no change is missed.
        let news = client.news.observe()
        Task { await self.run(news) }
        Task { await self.sendQueued() }
    }

    /// Queues a message to be sent, on the connection that is open or on the next one.
    ///
    /// - Throws: `WebSocketError` with `closed` unless the client is open, and with
    ///   `queueFull`; the message isn't sent then.
    public func send(_ message: Message) throws {
        try shared.withLock { shared in
            guard shared.wasOpened, !shared.hasEnded else {
                throw WebSocketError(.closed, message: "The client isn't open.")
            }
            guard message.byteCount <= queueLimit.bytes - shared.queuedBytes else {
                throw WebSocketError.queueFull(shared.queuedBytes, message.byteCount, queueLimit)
            }
            guard shared.queuedMessages < queueCount else { throw WebSocketError.queueFull(queueCount) }
            shared.queuedBytes += message.byteCount
            shared.queuedMessages += 1
            // With the lock held, so that messages go in the order in which they were counted.
            messages.yield(message)
        }
    }

    /// Queues a text; see ``send(_:)-(Message)``.
    public func send(_ text: String) throws { try send(.text(text)) }

    /// Queues the bytes of an array, or of a slice or another collection; see ``send(_:)-(Message)``.
    public func send(_ bytes: some Collection<UInt8>) throws { try send(.binary([UInt8](bytes))) }

    /// Reports that the machine's network has changed; see `ReconnectingWebSocket.networkChanged()`.
    public func networkChanged() {
        Task { [client] in await client.networkChanged() }
    }

    /// Closes the connection in order, or gives up the attempts, and ends.
    ///
    /// - Parameters:
    ///   - code: the reason for programs; as in `WebSocket.close(code:reason:)`.
    ///   - reason: the reason for people.
    public func close(code: CloseCode = .normalClosure, reason: String = "") {
        shared.withLock { shared in
            // Nothing comes of a client that is never opened.
            if !shared.wasOpened { shared.states.finish() }
            shared.wasOpened = true
            shared.hasEnded = true
        }
        messages.finish()
        Task { [client] in await client.close(code: code, reason: reason) }
    }

    // MARK: The client

    /// Goes through what happens in its order: a connection's messages come before its end.
    private func run(_ news: AsyncStream<ReconnectNews>) async {
        await client.start()
        var lastAttempt = 0
        var report: CloseReport?
        for await item in news {
            guard case .change(let change) = item else {
                if case .stage(let event) = item { await call { $0.webSocket(self, didReach: event) } }
                continue
            }
            switch change.state {
            case .connecting: await tell(hasConnected ? .reconnecting : .connecting)
            case .open(let attempt, after: _) where attempt.number > lastAttempt:
                // A slow queue may have kept this one until it was gone and the next one open.
                (report, lastAttempt) = await receive(attempt.number)
            case .ended(let end): return await self.end(end, report)
            case .idle, .open, .waiting, .paused: break
            }
        }
    }

    private var hasConnected: Bool { ![.idle, .connecting].contains(state) }

    /// Tells of the next connection, and hands its messages on.
    ///
    /// - Returns: how it has ended, and which attempt it was of.
    private func receive(_ number: Int) async -> (CloseReport?, Int) {
        // An end is a state, too, and reported as such.
        let session = try? await client.nextSession()
        shared.withLock { $0.connection = session }
        defer { shared.withLock { $0.connection = nil } }
        await tell(hasConnected ? .reconnected : .connected)
        guard let session else { return (nil, number) }
        let attempt = max(number, await session.timeline.attempt)
        do {
            // By way of the client, which looks for acknowledgements.
            while let message = try await client.nextMessage(of: session) {
                await call { $0.webSocket(self, didReceive: message) }
            }
        } catch {
            // The result of the connection is in its report.
            return (await session.closeReport, attempt)
        }
        return (await session.closeReport, attempt)
    }

    private func sendQueued() async {
        for await message in outbox {
            do {
                try await client.send(message)
            } catch {
                // The client has ended, which is reported as such.
                return
            }
            shared.withLock { shared in
                shared.queuedBytes -= message.byteCount
                shared.queuedMessages -= 1
            }
        }
    }

    private func end(_ end: ReconnectEnd, _ report: CloseReport?) async {
        shared.withLock { $0.hasEnded = true }
        messages.finish()
        switch end {
        case .stopped(let failure), .exhausted(_, let failure):
            if case .closed(let code) = failure.kind, let report, report.isClean {
                await call { delegate in
                    delegate.webSocket(self, didCloseWith: code, reason: failure.message, wasClean: true)
                }
            } else {
                await call { $0.webSocket(self, didFailWith: failure.error) }
            }
        case .closed:
            let (code, reason) = await client.closeFrame
            let wasClean = report?.isClean ?? false
            await call { $0.webSocket(self, didCloseWith: code, reason: reason, wasClean: wasClean) }
        }
        await tell(.idle)
        shared.withLock { $0.states }.finish()
    }

    private func tell(_ state: State) async {
        let isNew = shared.withLock { shared in
            defer { shared.state = state }
            return shared.state != state
        }
        if isNew || state == .idle { await call { $0.webSocket(self, didChangeTo: state) } }
    }

    private func call(_ body: @escaping @Sendable (any ReconnectingDelegate) -> Void) async {
        await delegates.call(body)
    }
}

/// The callbacks of a ``DelegatedReconnectingWebSocket``, on its queue, one call after the other.
///
/// For code that was written for XPWebSocket. Each method has an implementation that does nothing. A client that was
/// opened ends once: by one of the last two, and then by the state `idle`.
public protocol ReconnectingDelegate: AnyObject {
    /// A message came; the next one is received once this returns, so that a slow delegate slows the peer down.
    func webSocket(_ socket: DelegatedReconnectingWebSocket, didReceive message: Message)

    /// The client is in another state.
    func webSocket(
        _ socket: DelegatedReconnectingWebSocket,
        didChangeTo state: DelegatedReconnectingWebSocket.State
    )

    /// A stage of an attempt has begun, or is over: the name, each address, the proxy, TLS, the upgrade.
    ///
    /// Those of an attempt come behind the state that says that it is made, and before the one that it leads to; behind the
    /// messages of the connection before. What is cut short by the client's end isn't told.
    func webSocket(_ socket: DelegatedReconnectingWebSocket, didReach event: StageEvent)

    /// No attempt is made any more, because of this error.
    func webSocket(_ socket: DelegatedReconnectingWebSocket, didFailWith error: WebSocketError)

    /// The connection was closed for good: by this side, or by the server with a code that asks for no other attempt.
    func webSocket(
        _ socket: DelegatedReconnectingWebSocket,
        didCloseWith code: CloseCode,
        reason: String,
        wasClean: Bool
    )
}

extension ReconnectingDelegate {
    /// Does nothing.
    public func webSocket(_ socket: DelegatedReconnectingWebSocket, didReceive message: Message) {}

    /// Does nothing.
    public func webSocket(
        _ socket: DelegatedReconnectingWebSocket,
        didChangeTo state: DelegatedReconnectingWebSocket.State
    ) {}

    /// Does nothing.
    public func webSocket(_ socket: DelegatedReconnectingWebSocket, didReach event: StageEvent) {}

    /// Does nothing.
    public func webSocket(_ socket: DelegatedReconnectingWebSocket, didFailWith error: WebSocketError) {}

    /// Does nothing.
    public func webSocket(
        _ socket: DelegatedReconnectingWebSocket,
        didCloseWith code: CloseCode,
        reason: String,
        wasClean: Bool
    ) {}
}
