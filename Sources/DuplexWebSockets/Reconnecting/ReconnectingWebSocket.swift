// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
public import DuplexSockets
public import DuplexWire

/// A client that reconnects when its connection is lost, to one of several URLs, by a policy.
///
/// Use it in one of two ways, by one task: ``sessions`` gives each connection as a `WebSocket` of its own; ``messages``
/// and ``send(_:)-(Message)`` make one endless socket of them. The first use begins; ``close(code:reason:)`` ends it
/// all, and so does dropping the last reference.
///
/// ```swift
/// let client = ReconnectingWebSocket(
///     "wss://a.example.com/feed", "wss://b.example.com/feed",
///     onOpen: { socket in try await socket.send("subscribe prices") }
/// )
/// for try await message in client.messages { print(message) }
/// ```
///
/// An actor whose executor is a loop, the loop of all of its connections. Waits between attempts are timers of that
/// loop: they cost no task, and whatever ends a wait early takes the timer out in the same turn.
public actor ReconnectingWebSocket {
    /// The loop that the client and its connections live on.
    public nonisolated let loop: EventLoop
    /// Where it connects to, the preferred one first.
    public nonisolated let urls: [String]

    private nonisolated let changes = ChangeBroadcast<ReconnectChange>()
    private nonisolated let stageEvents = ChangeBroadcast<StageEvent>()
    /// Both in one order.
    package nonisolated let news = ChangeBroadcast<ReconnectNews>()
    /// The first thing on each connection, which is part of the attempt.
    private let onOpen: ReconnectingAttempt.Opening?
    private let options: ReconnectOptions
    private var machine: ReconnectMachine
    private var random: any RandomNumberGenerator & Sendable

    /// The connection that is open, and the number of its attempt.
    private var current: (socket: WebSocket, number: Int)?
    /// A connection that nobody has asked for yet.
    private var unclaimed: WebSocket?
    /// The connection that ``messages`` is at.
    private var reading: WebSocket?
    private var receivers: [Waiter<Void>] = []
    private var nextWaiterID: UInt64 = 0

    private var outbox: ReconnectOutbox
    /// Those who wait for room in the outbox.
    private var senders: Deque<(waiter: Waiter<Void>, entry: ReconnectOutbox.Entry)> = []
    /// Whether the connection has as much to send as it takes for now.
    private var isDraining = false

    private var attempt: (task: Task<Void, Never>, number: Int)?
    /// Fires when the present wait is over.
    private var waitTimer: TimerID?
    /// Fires when the present attempt has taken too long.
    private var attemptTimer: TimerID?
    /// Closes the last connection that this side wanted to end.
    private var closing: Task<Void, Never>?
    /// What the next close says.
    package private(set) var closeFrame: (code: CloseCode, reason: String) = (.goingAway, "")
    /// Takes changes of the network.
    private var follower: Task<Void, Never>?
    /// When changes of the network are acted on, and what fires then.
    private var throttle = ChangeThrottle()
    private var changeTimer: TimerID?
    /// The latest attempt that a change has begun.
    private var changeAttempt: Int?
    /// The connection that is being asked whether it lives, and whether the network has changed meanwhile.
    private var probing: (number: Int, isAgain: Bool)?

    /// The durations of its options and its policy.
    private let durations: [DurationSetting]

    /// Makes a client; it connects when it is used.
    ///
    /// A duration of the policy or of the options that isn't longer than zero ends the client at its first attempt, with
    /// ``WebSocketError/Code/invalidArgument``.
    ///
    /// - Parameters:
    ///   - url: where to connect to, as in `WebSocket.connect(to:options:on:handler:)`.
    ///   - others: where to connect to if that fails, in this order. Default: nowhere else.
    ///   - policy: when to connect again, where to, and when to give up.
    ///   - options: how to connect, and what to keep.
    ///   - group: the loops of which one becomes the client's.
    ///   - onOpen: the first thing on each connection, such as logging in and subscribing; isolated to the connection. It
    ///     ends before anybody gets the connection and before pending messages are sent, and it may receive messages. It is
    ///     part of the attempt: it counts towards ``ReconnectOptions/attemptTimeout``, is cancelled at its end, and an error
    ///     that it throws fails the attempt. Default: nothing.
    public init(
        _ url: String,
        _ others: String...,
        policy: ReconnectPolicy = ReconnectPolicy(),
        options: ReconnectOptions = ReconnectOptions(),
        on group: EventLoopGroup = .shared,
        onOpen: (@Sendable (isolated WebSocket) async throws -> Void)? = nil
    ) {
        self.init([url] + others, policy: policy, options: options, on: group, onOpen: onOpen)
    }

    /// Makes a client of a list of URLs; it connects when it is used.
    ///
    /// A duration of the policy or of the options that isn't longer than zero ends the client at its first attempt, with
    /// ``WebSocketError/Code/invalidArgument``.
    ///
    /// - Parameters:
    ///   - urls: where to connect to, as in `WebSocket.connect(to:options:on:handler:)`, the preferred one first. Hazard: the process
    ///     stops if there is none.
    ///   - policy: when to connect again, where to, and when to give up.
    ///   - options: how to connect, and what to keep.
    ///   - group: the loops of which one becomes the client's.
    ///   - onOpen: the first thing on each connection, such as logging in and subscribing; isolated to the connection. It
    ///     ends before anybody gets the connection and before pending messages are sent, and it may receive messages. It is
    ///     part of the attempt: it counts towards ``ReconnectOptions/attemptTimeout``, is cancelled at its end, and an error
    ///     that it throws fails the attempt. Default: nothing.
    public init(
        _ urls: [String],
        policy: ReconnectPolicy = ReconnectPolicy(),
        options: ReconnectOptions = ReconnectOptions(),
        on group: EventLoopGroup = .shared,
        onOpen: (@Sendable (isolated WebSocket) async throws -> Void)? = nil
    ) {
        precondition(!urls.isEmpty, "A client that reconnects needs a URL.")
        self.urls = urls
        self.options = options
        self.onOpen = onOpen
        durations = options.durations + policy.durations.within("policy")
        random = options.random
        loop = group.next()
        machine = ReconnectMachine(urls: urls.count, policy: policy)
        outbox = ReconnectOutbox(
            options.delivery,
            messageLimit: options.outboxMessages,
            byteLimit: options.outboxBytes
        )
        Self.living.add(self)
    }

    /// The URLs without credentials and queries.
    package nonisolated var shownURLs: [String] {
        urls.map { (try? WebSocketURL.parse($0))?.withoutQuery ?? "a URL that can't be read" }
    }

    /// The clients of the process that connect again.
    package static var all: [ReconnectingWebSocket] { living.all }
    private static let living = LivingObjects<ReconnectingWebSocket>()

    deinit {
        attempt?.task.cancel()
        follower?.cancel()
        changes.finish()
        stageEvents.finish()
        news.finish()
        let timers = [waitTimer, attemptTimer, changeTimer].compactMap(\.self)
        guard !timers.isEmpty else { return }
        loop.execute { core in for timer in timers { core.cancel(timer) } }
    }

    /// The loop, which runs what is isolated to this actor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    // MARK: What it shows

    /// Whether a change of the network was noted that isn't acted on yet.
    var mustActLater: Bool { throttle.isWaiting }

    /// How many wait for room in the outbox, and for a connection.
    var waiterCounts: (senders: Int, receivers: Int) { (senders.count, receivers.count) }

    /// The changes of the client from here on, after the last one there was; ends after the client's end.
    ///
    /// Any number of tasks may observe. Each gets every change once and in order; one that falls more than 1,024
    /// changes behind loses the oldest, which it sees by a gap in `ReconnectChange.number`.
    public nonisolated var stateChanges: AsyncStream<ReconnectChange> { changes.observe() }

    /// The stages of its attempts from here on, as they begin and as they are over, after the last one there was: the
    /// name, each address, the proxy, TLS, the upgrade; ends after the client's end.
    ///
    /// `StageEvent.attempt` is `ReconnectAttempt.number`. Any number of tasks may observe; one that falls more than 1,024
    /// events behind loses the oldest.
    public nonisolated var stages: AsyncStream<StageEvent> { stageEvents.observe() }

    /// The state of the client.
    public var state: ReconnectState { machine.state }

    /// The connection that is open: its timeline, latency, snapshot, subprotocol and addresses; `nil` while there is
    /// none.
    ///
    /// The same as the latest of ``sessions``, for code that reads ``messages``. It may end at any time, and another
    /// one take its place. Closing it closes the client. Messages that are sent to it directly aren't in the outbox:
    /// they go before those that wait there, and aren't sent again.
    public var connection: WebSocket? { current?.socket }

    /// The messages that ``send(_:)-(Message)`` took and no connection has got, or none has acknowledged, in their
    /// order.
    ///
    /// Complete once the client has ended.
    public var undelivered: [Message] { outbox.undelivered }

    // MARK: Events

    /// Begins to connect, without waiting for it; a second call does nothing.
    ///
    /// Reading sessions or messages, and sending, begin it, too.
    public func start() {
        handle(.start)
    }

    /// Closes the connection (1001), or gives up the attempt, and makes no other until ``resume()``.
    ///
    /// Unsent messages are kept. Returns once the connection is closed.
    public func pause() async {
        closeFrame = (.goingAway, "")
        handle(.pause)
        await closing?.value
    }

    /// Connects again after ``pause()``, at once, with all budgets full.
    public func resume() {
        handle(.resume)
    }

    /// Reports that the machine's network has changed; see also ``ReconnectOptions/follow(_:)``.
    ///
    /// A wait ends and an attempt is made at once, unless the server has asked for a longer wait. An attempt that is
    /// under way begins again, but not again and again for calls in a row: those wait until it has ended, for up to 5
    /// seconds. An open connection gets a ping, and is lost if the pong doesn't come in time
    /// (5 s); it is lost at once if the machine has lost its address and has another way
    /// to the peer. The next attempt follows without a wait.
    public func networkChanged() {
        // Nothing but an attempt suffers from changes in bursts.
        if case .connecting = machine.state { return noted(isLoss: false) }
        throttle.acted(loop.clock.now())
        act()
    }

    /// Closes the connection in order, or gives up the attempt, and makes no other: the sequences end.
    ///
    /// Unsent messages are kept in ``undelivered``. It always returns, as `WebSocket.close(code:reason:)` does.
    ///
    /// - Parameters:
    ///   - code: the reason for programs; as in `WebSocket.close(code:reason:)`.
    ///   - reason: the reason for people.
    public func close(code: CloseCode = .normalClosure, reason: String = "") async {
        startClosing(code, reason: reason)
        await closing?.value
    }

    /// Begins to close and doesn't wait for the end.
    func startClosing(_ code: CloseCode, reason: String) {
        closeFrame = (code, reason)
        handle(.close)
    }

    // MARK: What the machine says

    /// Hands an event to the machine, and does what it says.
    private func handle(_ event: ReconnectMachine.Event) {
        for action in machine.handle(event, now: loop.clock.now(), using: &random) { perform(action) }
        reviewChanges()
    }

    private func perform(_ action: ReconnectMachine.Action) {
        switch action {
        case .connect(let attempt): begin(attempt)
        case .abandon: endAttempt()
        case .disconnect: disconnect()
        case .probe(let number): probe(number)
        case .startTimer(let instant):
            stop(&waitTimer)
            waitTimer = loop.core.schedule(self, at: instant)
        case .stopTimer: stop(&waitTimer)
        case .tell(let change):
            changes.tell(change)
            news.tell(.change(change))
            if case .ended = change.state { finish() }
        }
    }

    // MARK: Attempts

    private func begin(_ attempt: ReconnectAttempt) {
        follow()
        let making = ReconnectingAttempt(
            loop: loop,
            attempt: attempt,
            url: urls[attempt.url],
            options: options,
            onOpen: onOpen,
            durations: durations,
            onStage: { [stageEvents, news] event in
                stageEvents.tell(event)
                news.tell(.stage(event))
            }
        )
        if let limit = making.limit {
            attemptTimer = loop.core.schedule(self, at: loop.clock.now().advanced(by: limit))
        }
        // It keeps the client only once there is something to report, so that one that is dropped ends.
        let task = Task(executorPreference: loop) { [weak self] in
            do throws(ReconnectFailure) {
                let socket = try await making.run()
                if await self?.opened(socket, attempt.number) != true { await socket.close(code: .goingAway) }
            } catch {
                await self?.failed(error, attempt.number)
            }
        }
        self.attempt = (task, attempt.number)
    }

    /// Forgets the present attempt; a late result of it is closed.
    private func endAttempt() {
        attempt?.task.cancel()
        attempt = nil
        stop(&attemptTimer)
    }

    private func failed(_ failure: ReconnectFailure, _ number: Int) {
        guard attempt?.number == number else { return }
        endAttempt()
        handle(.failed(attempt: number, failure))
    }

    /// Takes over a connection.
    ///
    /// - Returns: whether it is wanted.
    private func opened(_ socket: WebSocket, _ number: Int) -> Bool {
        guard attempt?.number == number else { return false }
        attempt = nil
        endAttempt()
        current = (socket, number)
        unclaimed = socket
        handle(.opened(attempt: number))
        let end = socket.onLoop(loop, (ReconnectingReference(self), number)) {
            (socket: isolated WebSocket, argument: (ReconnectingReference, Int)) -> ReconnectingEnd? in
            let (reference, number) = argument
            if socket.ending.phase == .closed { return ReconnectingEnd(of: socket) }
            socket.onEnd(EndObserver { socket in reference.ended(number, ReconnectingEnd(of: socket)) })
            return nil
        }
        resumeReceivers()
        if let end { ended(number, end) } else { flush() }
        return true
    }

    /// A connection is closed, whoever wanted it.
    fileprivate func ended(_ number: Int, _ end: ReconnectingEnd) {
        guard let current, current.number == number else { return }
        connectionIsGone()
        switch end {
        // The caller has closed it by itself: no other is wanted.
        case .ownClose: handle(.close)
        case .failed(let failure): handle(.failed(attempt: number, failure))
        }
    }

    private func connectionIsGone() {
        current = nil
        isDraining = false
        outbox.connectionEnded()
    }

    private func disconnect() {
        guard let socket = current?.socket else { return }
        connectionIsGone()
        let (code, reason) = closeFrame
        closing = Task(executorPreference: loop) { await socket.close(code: code, reason: reason) }
    }

    // MARK: Time

    private func stop(_ timer: inout TimerID?) {
        if let timer = timer.take() { loop.core.cancel(timer) }
    }

    private func fired(_ timer: TimerID) {
        if timer == waitTimer {
            waitTimer = nil
            handle(.timerFired)
        } else if timer == changeTimer {
            changeTimer = nil
            reviewChanges()
        } else if timer == attemptTimer, let number = attempt?.number {
            attemptTimer = nil
            failed(ReconnectFailure(.timedOut, cause: ReconnectingAttempt.late), number)
        }
    }

    // MARK: The end

    private func finish() {
        endAttempt()
        stop(&waitTimer)
        stopFollowing()
        changes.finish()
        news.finish()
        // Behind what ends the stages of an attempt that is given up.
        loop.execute { [stageEvents] _ in stageEvents.finish() }
        resumeReceivers()
        while let sender = senders.popFirst() { sender.waiter.resume(throwing: Self.isOver) }
    }

    // MARK: Changes of the network

    /// Begins to take changes, once.
    private func follow() {
        guard follower == nil, let changes = options.networkChanges else { return }
        follower = Task { [weak self] in
            await changes { [weak self] isLoss in await self?.noted(isLoss: isLoss) }
        }
    }

    private func stopFollowing() {
        follower?.cancel()
        follower = nil
        stop(&changeTimer)
    }

    func noted(isLoss: Bool) {
        throttle.note(isLoss: isLoss)
        reviewChanges()
    }

    /// Acts on the changes that were noted, or sees to it that this is done in time.
    private func reviewChanges() {
        stop(&changeTimer)
        if case .ended = machine.state { return }
        let now = loop.clock.now()
        let isOfChange = attempt != nil && attempt?.number == changeAttempt
        switch throttle.next(isConnecting: isOfChange, now) {
        case .nothing: break
        case .act: act()
        case .wait(let instant): changeTimer = loop.core.schedule(self, at: instant)
        }
    }

    private func act() {
        let before = attempt?.number
        handle(.networkChanged)
        if let attempt, attempt.number != before { changeAttempt = attempt.number }
    }

    // MARK: The open connection

    /// Asks an open connection whether it lives; once at a time, however often the network changes.
    private func probe(_ number: Int) {
        guard let socket = current?.socket else { return }
        if hasMoved(socket) {
            let message = "This machine hasn't the connection's address any more."
            lose(number, SocketError(.connectionReset, message: message))
            return
        }
        if probing?.number == number {
            // The pong on its way says nothing of what the network has become since.
            probing?.isAgain = true
            return
        }
        probing = (number, false)
        Task(executorPreference: loop) { [weak self, timeout = options.probeTimeout] in
            var isSilent = false
            var isThere = false
            do {
                _ = try await socket.ping(timeout: timeout)
                isThere = true
            } catch {
                // One that is closing, or closed, ends by itself.
                isSilent = (error as? WebSocketError)?.code == .timedOut
            }
            await self?.probed(number, isSilent: isSilent, isThere: isThere)
        }
    }

    private func probed(_ number: Int, isSilent: Bool, isThere: Bool) {
        let isAgain = probing.map { $0.number == number && $0.isAgain } ?? false
        if probing?.number == number { probing = nil }
        if isThere && isAgain && current?.number == number { return probe(number) }
        if isThere { handle(.answered(attempt: number)) }
        if isSilent { lose(number, SocketError(.timedOut, message: "No pong came after the network had changed.")) }
    }

    /// Whether the connection's address isn't this machine's any more while another one leads to the peer.
    private func hasMoved(_ socket: WebSocket) -> Bool {
        let address = socket.onLoop(loop) { socket, _ in socket.localAddress }
        guard let address, let peer = socket.remoteAddress else { return false }
        return SourceAddress.isGone(address) && SourceAddress.exists(to: peer)
    }

    /// The connection leads nowhere any more.
    private func lose(_ number: Int, _ error: SocketError) {
        guard let current, current.number == number else { return }
        current.socket.onLoop(loop, error) { socket, error in
            // Closing has a deadline of its own, and the peer needn't answer pings any more.
            guard socket.session.state == .open, socket.ending.phase == .open else { return }
            socket.channel.reset()
            socket.transportFailed(error)
        }
    }

    // MARK: Sending

    /// Takes a message to be sent, on the connection that is open or on the next one.
    ///
    /// Messages go in the order of the calls, after `onOpen`. Returns once the outbox has taken the message, and
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
        if case .ended = machine.state { throw Self.isOver }
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
            if case .ended = machine.state { return waiter.resume(throwing: Self.isOver) }
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

    /// Sends the bytes of an array, or of a slice or another collection; see ``send(_:)-(Message)``.
    public func send(_ bytes: some Collection<UInt8> & Sendable) async throws {
        try await send(.binary([UInt8](bytes)))
    }

    private static let isOver = WebSocketError(.closed, message: "The client has ended: it doesn't connect any more.")

    private func cancelSender(_ id: UInt64) {
        guard let index = senders.firstIndex(where: { $0.waiter.id == id }) else { return }
        senders.remove(at: index).waiter.resume(throwing: CancellationError())
        // Those behind it may fit.
        flush()
    }

    /// Writes what waits, as far as the connection takes it, and takes what has waited for room.
    private func flush() {
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
            await self?.becameWritable(socket)
        }
    }

    private func becameWritable(_ socket: WebSocket) {
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
            let message = socket.takeMessage()
            return (message, message == nil ? SocketWaiters.nextID() : 0)
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
            if case .ended(let end) = machine.state {
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

    private var isOver: Bool { if case .ended = machine.state { true } else { false } }

    private func cancelReceiver(_ id: UInt64) {
        guard let index = receivers.firstIndex(where: { $0.id == id }) else { return }
        receivers.remove(at: index).resume(throwing: CancellationError())
    }

    private func resumeReceivers() {
        for receiver in receivers { receiver.resume(returning: ()) }
        receivers = []
    }

    // MARK: Pings

    /// Sends a ping on the connection that is open and waits for its pong (RFC 6455 section 5.5.2).
    ///
    /// It neither begins an attempt nor waits for one, and it isn't sent again on the next connection.
    ///
    /// - Parameters:
    ///   - payload: what it carries, and its pong as well; cut at 125 bytes. Default: what tells it from other pings.
    ///   - timeout: how long to wait. Default: 20 s. The connection stays open after a timeout.
    /// - Returns: the time between the two.
    /// - Throws: ``WebSocketError`` with ``WebSocketError/Code/notConnected`` while there is no connection, with
    ///   ``WebSocketError/Code/closed`` once the client has ended, with ``WebSocketError/Code/timedOut``, or with what ended
    ///   the connection; `CancellationError`.
    public func ping(_ payload: [UInt8]? = nil, timeout: Duration = .seconds(20)) async throws -> Duration {
        try WebSocketError.check([DurationSetting("timeout", timeout)])
        return try await present().ping(payload, timeout: timeout)
    }

    /// The connection that is open.
    private func present() throws(WebSocketError) -> WebSocket {
        if let socket = current?.socket { return socket }
        if case .ended = machine.state { throw Self.isOver }
        let message = "There is no connection at present: the client \(machine.state.words)."
        throw WebSocketError(.notConnected, message: message)
    }
}

// A loop doesn't keep what its timers are for.
extension ReconnectingWebSocket: TimerTarget {
    package nonisolated func timerFired(_ timer: TimerID, now: Instant) {
        onLoop(loop, timer) { $0.fired($1) }
    }
}

extension ReconnectFailure {
    /// Whether it is a connection's end in order, which `messages` of a WebSocket doesn't throw either.
    package var isOrderly: Bool {
        guard case .closed(let code) = kind else { return false }
        return [.normalClosure, .goingAway, .noStatusReceived].contains(code)
    }
}

extension ReconnectState {
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

/// A client, for a connection that must notify it and not keep it.
private final class ReconnectingReference: Sendable {
    private weak let client: ReconnectingWebSocket?

    init(_ client: ReconnectingWebSocket) {
        self.client = client
    }

    /// Called on the client's loop, which is the connection's.
    func ended(_ number: Int, _ end: ReconnectingEnd) {
        guard let client else { return }
        client.onLoop(client.loop, (number, end)) { $0.ended($1.0, $1.1) }
    }
}
