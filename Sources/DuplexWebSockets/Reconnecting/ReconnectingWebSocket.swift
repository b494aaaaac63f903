// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
public import DuplexSockets
public import DuplexWire
import Synchronization

/// A client that reconnects when its connection is lost, to one of several URLs, by a policy.
///
/// Use it in one of two ways, by one task: ``sessions`` gives each connection as a `WebSocket` of its own; ``messages``
/// and ``send(_:)-(Message)`` make one endless socket of them. The first use begins; ``close(code:reason:)`` ends it
/// all, and so does dropping the last reference.
///
/// ```swift
/// let client = ReconnectingWebSocket(urls: [primary, backup])
/// client.preamble { socket in try await socket.send("subscribe prices") }
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

    nonisolated let changes = ChangeBroadcast<ReconnectChange>()
    nonisolated let stageEvents = ChangeBroadcast<StageEvent>()
    /// Both in one order.
    package nonisolated let news = ChangeBroadcast<ReconnectNews>()
    nonisolated let preambleBox = Mutex<ReconnectingAttempt.Preamble?>(nil)
    let options: ReconnectOptions
    var machine: ReconnectMachine
    var random: any RandomNumberGenerator & Sendable

    /// The connection that is open, and the number of its attempt.
    var current: (socket: WebSocket, number: Int)?
    /// A connection that nobody has asked for yet.
    var unclaimed: WebSocket?
    /// The connection that ``messages`` is at.
    var reading: WebSocket?
    var receivers: [Waiter<Void>] = []
    var nextWaiterID: UInt64 = 0

    var outbox: ReconnectOutbox
    /// Those who wait for room in the outbox.
    var senders: Deque<(waiter: Waiter<Void>, entry: ReconnectOutbox.Entry)> = []
    /// Whether the connection has as much to send as it takes for now.
    var isDraining = false

    var attempt: (task: Task<Void, Never>, number: Int)?
    /// Fires when the present wait is over.
    var waitTimer: TimerID?
    /// Fires when the present attempt has taken too long.
    var attemptTimer: TimerID?
    /// Closes the last connection that this side wanted to end.
    var closing: Task<Void, Never>?
    package var closeFrame: (code: CloseCode, reason: String) = (.goingAway, "")
    /// Takes changes of the network.
    var follower: Task<Void, Never>?
    /// When changes of the network are acted on, and what fires then.
    var throttle = ChangeThrottle()
    var changeTimer: TimerID?
    /// The latest attempt that a change has begun.
    var changeAttempt: Int?
    /// The connection that is being asked whether it lives, and whether the network has changed meanwhile.
    var probing: Int?
    var mustProbeAgain = false

    /// The durations of its options and its policy.
    let durations: [DurationSetting]

    /// Makes a client; it connects when it is used.
    ///
    /// A duration of the policy or of the options that isn't longer than zero ends the client at its first attempt, with
    /// ``WebSocketError/Code/invalidArgument``.
    ///
    /// - Parameters:
    ///   - urls: where to connect to, as in `WebSocket.connect(to:options:on:)`, the preferred one first; one at least.
    ///   - policy: when to connect again, where to, and when to give up.
    ///   - options: how to connect, and what to keep.
    ///   - group: the loops of which one becomes the client's.
    public init(
        urls: [String],
        policy: ReconnectPolicy = .standard,
        options: ReconnectOptions = ReconnectOptions(),
        on group: EventLoopGroup = .shared
    ) {
        precondition(!urls.isEmpty, "A client that reconnects needs a URL.")
        self.urls = urls
        self.options = options
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

    /// The changes of the client from here on, after the last one there was; ends after the client's end.
    ///
    /// Any number of tasks may observe. Each gets every change once and in order; one that falls more than 1,024
    /// changes behind loses the oldest, which it sees by a gap in `ReconnectChange.number`.
    public nonisolated var states: AsyncStream<ReconnectChange> { changes.observe() }

    /// The stages of its attempts from here on, as they begin and as they are over, after the last one there was: the
    /// name, each address, the proxy, TLS, the upgrade; ends after the client's end.
    ///
    /// `StageEvent.attempt` is `ReconnectAttempt.number`. Any number of tasks may observe; one that falls more than 1,024
    /// events behind loses the oldest.
    public nonisolated var stages: AsyncStream<StageEvent> { stageEvents.observe() }

    /// The state of the client.
    public var phase: ReconnectPhase { machine.phase }

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

    /// Sets what is done first on every connection, such as logging in and subscribing, before anybody gets it and
    /// before pending messages are sent.
    ///
    /// It is part of the attempt: an error that it throws fails the attempt. It may receive messages.
    ///
    /// - Parameter body: what to do; isolated to the connection.
    public nonisolated func preamble(_ body: @escaping @Sendable (isolated WebSocket) async throws -> Void) {
        preambleBox.withLock { $0 = body }
    }

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
    /// (``ReconnectOptions/probeTimeout``); it is lost at once if the machine has lost its address and has another way
    /// to the peer. The next attempt follows without a wait.
    public func networkChanged() {
        // Nothing but an attempt suffers from changes in bursts.
        if case .connecting = machine.phase { return noted(isLoss: false) }
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
        closeFrame = (code, reason)
        handle(.close)
        await closing?.value
    }
}
