// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import Dispatch
public import DuplexSockets
public import DuplexWebSockets
public import DuplexWire
public import HTTPTypes
import Synchronization

/// A WebSocket client with a delegate, for code that isn't `async`.
///
/// One object is one connection: it is opened once, keeps itself alive until it has ended, and keeps its delegate weakly.
/// Its methods may be called on any thread and return at once.
///
/// A delegate with state, such as a view controller, belongs to the main actor and conforms there
/// (`final class Chat: @MainActor WebSocketDelegate`); it is called on the main queue. One that is `Sendable` may be called
/// on a queue of the caller's choice.
public final class DelegatedWebSocket: Sendable {
    /// The state of the connection.
    public enum State: Sendable, Hashable {
        /// Not opened yet.
        case idle
        /// The name is being looked up, or the handshakes are under way.
        case connecting
        /// Messages go both ways.
        case open
        /// This side has begun to close.
        case closing
        /// It has ended, and the delegate was called or is about to be.
        case closed
    }

    /// Where it connects to.
    public let url: String
    /// The most bytes of messages that wait to be sent; one that doesn't fit is refused by ``send(_:)-(Message)``.
    package let queueLimit: ByteCount
    private let options: WebSocketOptions
    let delegates: DelegateQueue<any WebSocketDelegate>
    private let group: EventLoopGroup
    private let shared: Mutex<Shared>
    /// The most messages and pings that wait to be sent.
    package let queueCount: Int
    private let outbox: AsyncStream<Command>
    private let commands: AsyncStream<Command>.Continuation

    private enum Command: Sendable {
        case message(Message)
        case ping([UInt8])
        /// All before it has been taken over by the connection.
        case mark(AsyncStream<Never>.Continuation)
    }

    /// What is known of the connection once it is open, for any thread.
    private struct Facts {
        var subprotocol: String?
        var remoteAddress: SocketAddress?
        var responseHeaders: HTTPFields?
        var timeline: WebSocketTimeline
    }

    private struct Shared {
        /// Tells of each state.
        let states = ChangeBroadcast<State>(.idle)
        var state = State.idle {
            didSet {
                if state != oldValue { states.tell(state) }
                if state == .closed { states.finish() }
            }
        }
        var userData: (any Sendable)?
        var queuedBytes = 0
        var queuedCommands = 0
        var closing: (code: CloseCode, reason: String) = (.normalClosure, "")
        var socket: WebSocket?
        var facts: Facts?
        var task: Task<Void, Never>?
        /// Ends the connection when what is queued keeps it from closing for too long.
        var closer: Task<Void, Never>?
        /// Whether nothing more is to be reported but the end.
        var isReset = false
        /// Whether the delegate got the end.
        var hasEnded = false
    }

    /// Makes a connection, which ``open()`` opens, whose delegate is called on the main queue.
    ///
    /// - Parameters:
    ///   - url: as in `WebSocket.connect(to:options:on:handler:)`.
    ///   - options: headers, subprotocols, limits and times.
    ///   - delegate: gets all events; kept weakly. It may be set later as ``delegate``. Default: none.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages and pings that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the connection's.
    @MainActor
    public convenience init(
        url: String,
        options: WebSocketOptions = WebSocketOptions(),
        delegate: (any WebSocketDelegate)? = nil,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) {
        self.init(url, options, .queue(.main), queueLimit, queueCount, group)
        self.delegate = delegate
    }

    /// Makes a connection, which ``open()`` opens, whose delegate is called on a queue of the caller's.
    ///
    /// - Parameters:
    ///   - url: as in `WebSocket.connect(to:options:on:handler:)`.
    ///   - options: headers, subprotocols, limits and times.
    ///   - delegate: gets all events; kept weakly. It may be set later by ``setDelegate(_:)``.
    ///   - queue: where it is called, in order, one call at a time. A concurrent queue is fine.
    ///   - queueLimit: the most bytes of messages that wait to be sent. Default: 16 MiB.
    ///   - queueCount: the most messages and pings that wait to be sent. Default: 16,384.
    ///   - group: the loops of which one becomes the connection's.
    public convenience init(
        url: String,
        options: WebSocketOptions = WebSocketOptions(),
        delegate: (any WebSocketDelegate & Sendable)?,
        queue: DispatchQueue,
        queueLimit: ByteCount = .mebibytes(16),
        queueCount: Int = 16_384,
        on group: EventLoopGroup = .shared
    ) {
        self.init(
            url: url,
            options: options,
            delegate: delegate,
            place: .queue(queue),
            queueLimit: queueLimit,
            queueCount: queueCount,
            on: group
        )
    }

    /// Makes a connection, whose delegate is called on a place of the caller's.
    package convenience init(
        url: String,
        options: WebSocketOptions,
        delegate: (any WebSocketDelegate & Sendable)?,
        place: DelegatePlace,
        queueLimit: ByteCount,
        queueCount: Int,
        on group: EventLoopGroup
    ) {
        self.init(url, options, place, queueLimit, queueCount, group)
        setDelegate(delegate)
    }

    private init(
        _ url: String,
        _ options: WebSocketOptions,
        _ place: DelegatePlace,
        _ queueLimit: ByteCount,
        _ queueCount: Int,
        _ group: EventLoopGroup
    ) {
        self.url = url
        self.options = options
        self.queueLimit = queueLimit
        self.queueCount = queueCount
        self.group = group
        delegates = DelegateQueue(place, label: "duplex.delegate")
        shared = Mutex(Shared())
        (outbox, commands) = AsyncStream.makeStream()
    }

    /// The state of the connection.
    public var state: State { shared.withLock { $0.state } }

    /// The states from here on, after the present one; ends after ``State/closed``.
    ///
    /// Any number of tasks may observe; one that falls more than 1,024 states behind loses the oldest.
    public var states: AsyncStream<State> { shared.withLock { $0.states }.observe() }

    /// Anything that the app wants to keep with the connection.
    public var userData: (any Sendable)? {
        get { shared.withLock { $0.userData } }
        set { shared.withLock { $0.userData = newValue } }
    }

    /// The bytes of messages that wait to be sent; those that the connection has taken over don't count.
    public var queuedBytes: Int { shared.withLock { $0.queuedBytes } }

    /// The connection: what it has agreed on, its latency, its snapshot, the certificates of its peer; `nil` before it
    /// is open, and once the delegate got its end.
    ///
    /// Its messages are the delegate's: no other code can receive them. Closing it closes this.
    public var connection: WebSocket? { shared.withLock { $0.socket } }

    /// The subprotocol that both sides agreed on; `nil` when there is none, and before the connection is open.
    public var subprotocol: String? { shared.withLock { $0.facts?.subprotocol } }

    /// The address of the peer; `nil` before the connection is open.
    public var remoteAddress: SocketAddress? { shared.withLock { $0.facts?.remoteAddress } }

    /// The fields of the answer that opened the connection; `nil` before it is open.
    ///
    /// Those of a refusal are in the error.
    public var responseHeaders: HTTPFields? { shared.withLock { $0.facts?.responseHeaders } }

    /// What happened to the connection, and when; `nil` before it is open.
    ///
    /// Up to the opening while the connection is open, and all of it from its end on. That of an attempt that failed is in the
    /// error.
    public var timeline: WebSocketTimeline? { shared.withLock { $0.facts?.timeline } }

    /// Connects; a second call does nothing, and neither does one behind ``close(code:reason:)``.
    public func open() {
        shared.withLock { shared in
            guard shared.state == .idle else { return }
            shared.state = .connecting
            shared.task = Task { await self.run() }
        }
    }

    /// Queues a message to be sent, after those of earlier calls.
    ///
    /// - Throws: `WebSocketError` with `closed` unless the connection is open, and with
    ///   `queueFull`; the message isn't sent then.
    public func send(_ message: Message) throws {
        try queue(.message(message), bytes: message.byteCount)
    }

    private func queue(_ command: Command, bytes: Int) throws {
        try shared.withLock { shared in
            guard shared.state == .open else {
                throw WebSocketError(.closed, message: "The connection isn't open: it is \(shared.state).")
            }
            guard bytes <= queueLimit.bytes - shared.queuedBytes else {
                throw WebSocketError.queueFull(shared.queuedBytes, bytes, queueLimit)
            }
            guard shared.queuedCommands < queueCount else { throw WebSocketError.queueFull(queueCount) }
            shared.queuedBytes += bytes
            shared.queuedCommands += 1
            // With the lock held, so that messages go in the order in which they were counted.
            commands.yield(command)
        }
    }

    /// Queues a text; see ``send(_:)-(Message)``.
    public func send(_ text: String) throws {
        try send(.text(text))
    }

    /// Queues the bytes of an array, or of a slice or another collection; see ``send(_:)-(Message)``.
    public func send(_ bytes: some Collection<UInt8>) throws {
        try send(.binary([UInt8](bytes)))
    }

    /// Queues a ping, after the messages of earlier calls; the delegate gets its pong.
    ///
    /// - Parameter payload: what it carries, and its pong; cut at 125 bytes. Default: nothing.
    /// - Throws: as ``send(_:)-(Message)``.
    public func ping(_ payload: some Collection<UInt8> = [UInt8]()) throws {
        try queue(.ping(Array(payload.prefix(FrameHeader.maximumControlPayload))), bytes: 0)
    }

    /// Closes the connection in order, after the messages that were queued; gives up if it isn't open yet.
    ///
    /// Messages that can't be sent within `WebSocketOptions.closeTimeout` are dropped, and then the peer has that long again.
    ///
    /// - Parameters:
    ///   - code: the reason for programs; as in `WebSocket.close(code:reason:)`.
    ///   - reason: the reason for people.
    public func close(code: CloseCode = .normalClosure, reason: String = "") {
        let (task, isOver) = shared.withLock { shared -> (Task<Void, Never>?, Bool) in
            switch shared.state {
            case .closing, .closed: return (nil, false)
            case .idle:
                shared.state = .closed
                return (nil, true)
            case .connecting:
                shared.state = .closing
                return (shared.task, false)
            case .open:
                shared.state = .closing
                shared.closing = (code, reason)
                commands.finish()
                shared.closer = closer(shared.socket, code, reason)
                return (nil, false)
            }
        }
        task?.cancel()
        if isOver { Task { await end(.failure(Self.closedEarly)) } }
    }

    /// Ends the connection at once, without a closing handshake; gives up if it isn't open yet.
    ///
    /// Unsent messages are dropped, and so are received ones that the delegate has not got yet. The end is reported as
    /// a failure with `closed`, whose report says `CloseReport.wasReset`, unless both sides had
    /// closed before.
    public func reset() {
        let socket = shared.withLock { shared -> WebSocket? in
            shared.isReset = true
            guard let socket = shared.socket, shared.state != .closed else { return nil }
            shared.state = .closing
            commands.finish()
            return socket
        }
        guard let socket else { return close() }
        Task { await socket.reset() }
    }

    /// Closes the connection when what waits to be sent hasn't gone out within the time that closing may take.
    ///
    /// A task that sleeps, because this object is on no loop that could have a timer for it; cancelled at the end.
    private func closer(_ socket: WebSocket?, _ code: CloseCode, _ reason: String) -> Task<Void, Never> {
        Task { [timeout = options.closeTimeout] in
            guard (try? await Task.sleep(for: timeout.forSleeping)) != nil else { return }
            await socket?.close(code: code, reason: reason)
        }
    }

    private static let closedEarly = WebSocketError(.closed, message: "The connection was closed before it was open.")

    // MARK: The connection

    private func run() async {
        var options = options
        options.tellsControlFrames = true
        options.onStage = { [weak self, onStage = options.onStage] event in
            onStage?(event)
            self?.tell(event)
        }
        do {
            let socket = try await WebSocket.connect(to: url, options: options, on: group)
            let facts = await facts(of: socket)
            let (isWanted, isReset) = shared.withLock { shared in
                guard shared.state == .connecting else { return (false, shared.isReset) }
                (shared.state, shared.socket, shared.facts) = (.open, socket, facts)
                return (true, false)
            }
            guard isWanted else {
                if isReset { await socket.reset() } else { await socket.close() }
                throw Self.closedEarly
            }
            await tell { $0.webSocketDidOpen(self) }
            await converse(on: socket)
        } catch is CancellationError {
            await end(.failure(Self.closedEarly))
        } catch {
            await end(.failure(Self.error(error)))
        }
    }

    private func facts(of socket: isolated WebSocket) -> Facts {
        Facts(
            subprotocol: socket.subprotocol,
            remoteAddress: socket.remoteAddress,
            responseHeaders: socket.responseHeaders,
            timeline: socket.timeline
        )
    }

    private func converse(on socket: WebSocket) async {
        async let sent: Void = sendQueued(on: socket)
        var failure: WebSocketError?
        do {
            while let event = try await socket.nextTold() {
                await tell { self.tell(event, to: $0) }
                // Before anything more is taken.
                if shared.withLock({ $0.isReset }) { await socket.reset() }
                // Asking for the next message fails the connection then, and what the delegate has answered goes first.
                if await socket.isAwaitingApp { await handOver() }
            }
        } catch {
            failure = Self.error(error)
        }
        commands.finish()
        await sent
        let report = await socket.close()
        let timeline = await socket.timeline
        shared.withLock { $0.facts?.timeline = timeline }
        if let failure, !report.isClean { return await end(.failure(failure)) }
        await end(.success(report))
    }

    /// Waits until what was queued so far has been taken over by the connection.
    private func handOver() async {
        let (mark, reached) = AsyncStream<Never>.makeStream()
        guard case .enqueued = commands.yield(.mark(reached)) else { return }
        for await _ in mark {}
    }

    /// Sends what is queued until this side closes or the connection ends.
    private func sendQueued(on socket: WebSocket) async {
        for await command in outbox {
            switch command {
            case .message(let message):
                // Failures are reported by the end of the messages.
                try? await socket.send(message)
                shared.withLock { $0.queuedBytes -= message.byteCount }
            case .ping(let payload): await socket.askForPong(payload)
            case .mark(let reached):
                reached.finish()
                continue
            }
            shared.withLock { $0.queuedCommands -= 1 }
        }
        let (closing, isReset) = shared.withLock { ($0.closing, $0.isReset) }
        if isReset { return await socket.reset() }
        await socket.close(code: closing.code, reason: closing.reason)
    }

    /// Reports a stage to the delegate: from the loop, before what follows from it.
    private func tell(_ event: StageEvent) {
        delegates.post {
            self.shared.withLock { !$0.hasEnded && !$0.isReset }
        } _: { delegate in
            delegate.webSocket(self, didReach: event)
        }
    }

    private static func error(_ error: any Error) -> WebSocketError {
        error as? WebSocketError ?? WebSocketError(.connectionLost, message: "The connection failed.", cause: error)
    }

    private func end(_ result: Result<CloseReport, WebSocketError>) async {
        shared.withLock { shared in
            shared.state = .closed
            shared.closer?.cancel()
            (shared.closer, shared.task) = (nil, nil)
        }
        commands.finish()
        await tell(isEnd: true) { delegate in
            switch result {
            case .success(let report): delegate.webSocket(self, didCloseWith: report)
            case .failure(let error): delegate.webSocket(self, didFailWith: error)
            }
        }
        shared.withLock { $0.socket = nil }
    }

    /// Calls the delegate on its queue, unless it got the end already, and waits until it has returned.
    private func tell(isEnd: Bool = false, _ call: @escaping @Sendable (any WebSocketDelegate) -> Void) async {
        await delegates.call {
            self.shared.withLock { shared in
                defer { if isEnd { shared.hasEnded = true } }
                return !shared.hasEnded && (isEnd || !shared.isReset)
            }
        } _: { delegate in
            call(delegate)
        }
    }

    // MARK: The receiver

    /// The delegate, which gets all events from here on, on the main queue; kept weakly.
    ///
    /// While there is none, messages that come are dropped.
    @MainActor public var delegate: (any WebSocketDelegate)? {
        get { delegates.delegate }
        set { delegates.tellOnMain { [weak newValue] in newValue } }
    }

    /// Sets the delegate, which gets all events from here on, on the queue that this object was made with; kept weakly.
    ///
    /// - Parameter delegate: may be called on any thread; `nil` for nobody.
    public func setDelegate(_ delegate: (any WebSocketDelegate & Sendable)?) {
        delegates.tell { [weak delegate] in delegate }
    }

    /// Calls the method of the delegate that is for an event.
    func tell(_ event: ToldEvent, to delegate: any WebSocketDelegate) {
        switch event {
        case .message(let message): delegate.webSocket(self, didReceive: message)
        case .ping(let payload): delegate.webSocket(self, didReceivePing: payload)
        case .pong(let payload, let roundTrip):
            delegate.webSocket(self, didReceivePong: payload)
            if let roundTrip { delegate.webSocket(self, didReceivePong: roundTrip) }
        }
    }
}
