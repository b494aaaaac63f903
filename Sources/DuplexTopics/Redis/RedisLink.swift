// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Synchronization

/// A connection to Redis that comes back, with the subscriptions that live on it.
///
/// On one loop, as its connections are. It connects when it is started, and again by ``RedisOptions/backoff`` until it is
/// closed: whatever the server refuses may change. Waits between attempts are timers of the loop.
actor RedisLink: RedisClient {
    /// Finds the server to connect to; asked for each attempt, and notified how the last one or the last connection has
    /// ended.
    typealias Locator = @Sendable (RedisError?) async throws -> RedisURL

    /// The loop that the link and its connections live on.
    nonisolated let loop: EventLoop
    let options: RedisOptions
    private let locate: Locator
    /// Whether a replica is no server to connect to.
    private let needsMaster: Bool
    /// Start and end with the link.
    private let sentinels: RedisSentinels?
    nonisolated let broadcast = ChangeBroadcast(RedisLinkState.idle)

    private(set) var connection: RedisConnection?
    private var attempt: (task: Task<Void, Never>, number: Int)?
    private var attempts = 0
    /// How many attempts or short connections have failed in a row.
    private var failures = 0
    private var lastError: RedisError?
    private var connectedAt = Instant(nanoseconds: 0)
    private var retryTimer: TimerID?
    private var queueTimer: TimerID?
    private var queue: RedisQueue
    var subscriptions = RedisSubscriptions()
    private var random = SystemRandomNumberGenerator()
    private var isClosed = false

    /// A connection that has lasted this long counts as one that works: the waits begin with the shortest.
    static let lastingTime = Duration.seconds(5)

    /// Makes a link; see ``start()``.
    ///
    /// - Parameters:
    ///   - options: deadlines, bounds, waits.
    ///   - loop: the loop of the link.
    ///   - needsMaster: whether a replica is no server to connect to.
    ///   - sentinels: start and end with the link. Default: none.
    ///   - locate: finds the server.
    init(
        options: RedisOptions,
        loop: EventLoop,
        needsMaster: Bool = false,
        sentinels: RedisSentinels? = nil,
        locate: @escaping Locator
    ) {
        self.options = options
        self.loop = loop
        self.needsMaster = needsMaster
        self.sentinels = sentinels
        self.locate = locate
        queue = RedisQueue(options.whenDisconnected)
    }

    /// Makes a link to one server.
    init(to url: RedisURL, options: RedisOptions, loop: EventLoop) {
        self.init(options: options, loop: loop) { _ in url }
    }

    deinit {
        attempt?.task.cancel()
        broadcast.finish()
        let timers = [retryTimer, queueTimer].compactMap(\.self)
        guard !timers.isEmpty else { return }
        loop.execute { core in for timer in timers { core.cancel(timer) } }
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    /// Where the link stands, and then every change; see `ChangeBroadcast`.
    nonisolated var states: AsyncStream<RedisLinkState> { broadcast.observe() }

    // MARK: Coming and going

    /// One server is the node of every key.
    nonisolated var channelKind: RedisChannel.Kind { .plain }

    func start() async {
        await sentinels?.start()
        begin()
    }

    /// Begins to connect, once.
    func begin() {
        if case .idle = broadcast.last { connect() }
    }

    func close() async {
        close(because: nil)
        await sentinels?.close()
    }

    /// Ends it all: commands that wait fail, and nothing is connected any more.
    ///
    /// - Parameter departure: why the server isn't one to connect to any more; `nil` where this side has had enough.
    func close(because departure: String?) {
        guard !isClosed else { return }
        let closed = RedisError(.closed, "The link to Redis was closed on this side.")
        isClosed = true
        attempt?.task.cancel()
        attempt = nil
        stop(&retryTimer)
        let connection = connection
        self.connection = nil
        let lost = departure.map { RedisError(.connectionLost, $0) } ?? closed
        if let connection { connection.onLoop(loop, lost) { $0.finish($1) } }
        failQueue(departure.map { RedisError(.unavailable, $0) } ?? closed)
        broadcast.tell(.closed)
        broadcast.finish()
    }

    /// Gives the present connection, attempt or wait up and connects anew, as there is a better server.
    func reconnect(because message: String) {
        guard !isClosed else { return }
        if let connection {
            // Its end is reported, and begins the next attempt.
            connection.onLoop(loop, message) { $0.finish(RedisError(.notMaster, $1)) }
        } else if attempt != nil || retryTimer != nil {
            attempt?.task.cancel()
            stop(&retryTimer)
            connect()
        }
    }

    private func connect() {
        attempts += 1
        let number = attempts
        broadcast.tell(.connecting(attempt: failures + 1))
        let making = Making(locate: locate, options: options, loop: loop, needsMaster: needsMaster, last: lastError)
        // It keeps the link only once there is something to report, so that one that is dropped ends.
        let task = Task(executorPreference: loop) { [weak self] in
            do {
                let connection = try await making.run()
                if await self?.opened(connection, number) != true { await connection.close() }
            } catch let error as RedisError {
                await self?.failed(error, number)
            } catch {
                await self?.failed(RedisError(.cannotConnect, "\(error)"), number)
            }
        }
        attempt = (task, number)
    }

    /// One attempt, without the link.
    private struct Making: Sendable {
        let locate: Locator
        let options: RedisOptions
        let loop: EventLoop
        let needsMaster: Bool
        let last: RedisError?

        func run() async throws -> RedisConnection {
            let url = try await locate(last)
            let connection = try await RedisConnection.connect(to: url, options: options, on: loop)
            if needsMaster, await connection.role != "master" {
                await connection.close()
                throw RedisError(.notMaster, "\(url) is no master.")
            }
            return connection
        }
    }

    private func failed(_ error: RedisError, _ number: Int) {
        guard attempt?.number == number else { return }
        attempt = nil
        failures += 1
        retry(error)
    }

    private func retry(_ error: RedisError) {
        guard !isClosed else { return }
        lastError = error
        // A policy that gives up is none here: the longest wait is taken.
        let delay = options.backoff.delay(after: max(1, failures), using: &random) ?? .seconds(5)
        let instant = loop.clock.now().advanced(by: delay)
        retryTimer = loop.core.schedule(self, at: instant)
        broadcast.tell(.waiting(error, until: instant))
    }

    /// Takes over a connection.
    ///
    /// - Returns: whether it is wanted.
    private func opened(_ connection: RedisConnection, _ number: Int) -> Bool {
        guard attempt?.number == number else { return false }
        attempt = nil
        let reference = RedisLinkReference(self)
        let end = connection.onLoop(loop, (reference, needsMaster, number)) { connection, argument in
            let (reference, needsMaster, number) = argument
            connection.mustBeMaster = needsMaster
            connection.pushHandler = { reference.pushed($0, number) }
            connection.endHandler = { reference.ended($0, number) }
            return connection.end
        }
        if let end {
            failures += 1
            retry(end)
            return true
        }
        self.connection = connection
        connectedAt = loop.clock.now()
        lastError = nil
        broadcast.tell(.connected(connection.url))
        for (channel, generation) in subscriptions.channels { subscribe(channel, generation) }
        sendQueue()
        return true
    }

    fileprivate func pushed(_ values: [RedisValue], _ number: Int) {
        if number == attempts { pushed(values) }
    }

    /// The connection has ended by itself.
    fileprivate func ended(_ error: RedisError, _ number: Int) {
        guard number == attempts, connection != nil else { return }
        // The loop was stopped: no timer would fire any more.
        if error.code == .closed { return close(because: nil) }
        connection = nil
        let hasLasted = connectedAt.duration(to: loop.clock.now()) >= Self.lastingTime
        failures = hasLasted ? 1 : failures + 1
        for handler in subscriptions.interrupted() { handler(.interrupted) }
        if error.code == .notMaster { failures = 1 }
        retry(error)
    }

    // MARK: Commands

    /// Sends a command, or keeps it until there is a connection, as the options say; nothing waits for room.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - key: has no meaning with one server.
    ///   - completion: called on the loop with the result, perhaps before this returns.
    func send(_ command: RedisCommand, key: [UInt8] = [], _ completion: @escaping RedisConnection.Completion) {
        guard let connection else { return keep([command], id: 0, completion) }
        connection.onLoop(loop, (command, completion)) { $0.send($1.0, $1.1) }
    }

    /// Runs a command; waits for room, and for a connection as the options say.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - key: has no meaning with one server.
    /// - Returns: the answer.
    /// - Throws: ``RedisError``, `CancellationError`.
    func run(_ command: RedisCommand, key: [UInt8] = []) async throws -> RedisValue {
        let id = RedisWait.next()
        return try await waitOnLoop(id: id) { (waiter: Waiter<RedisValue>) in
            submit([command], id: id) { RedisWait.end(waiter, $0) }
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancel(id) } }
        }
    }

    /// Runs a command; see ``run(_:key:)``.
    func command(_ words: RedisCommand.Word...) async throws -> RedisValue {
        try await run(RedisCommand(words))
    }

    /// Sends commands one right behind the other, waiting for room; the reply to the last one is reported.
    func submit(_ commands: [RedisCommand], id: UInt64 = 0, _ completion: @escaping RedisConnection.Completion) {
        guard let connection else { return keep(commands, id: id, completion) }
        pass(commands, id: id, to: connection, completion)
    }

    private func pass(
        _ commands: [RedisCommand],
        id: UInt64,
        to connection: RedisConnection,
        _ completion: @escaping RedisConnection.Completion
    ) {
        guard let last = commands.last else { return }
        for command in commands.dropLast() { connection.onLoop(loop, command) { $0.submit($1) { _ in } } }
        connection.onLoop(loop, (last, id, completion)) { $0.submit($1.0, id: $1.1, $1.2) }
    }

    private func keep(_ commands: [RedisCommand], id: UInt64, _ completion: @escaping RedisConnection.Completion) {
        if isClosed { return completion(.failure(RedisError(.closed, "The link to Redis was closed on this side."))) }
        if let refusal = queue.add(commands, id: id, now: loop.clock.now(), completion) {
            return completion(.failure(refusal))
        }
        if queueTimer == nil { startQueueTimer() }
    }

    private func sendQueue() {
        stop(&queueTimer)
        while let connection, let entry = queue.next() {
            pass(entry.commands, id: entry.id, to: connection, entry.completion)
        }
    }

    private func startQueueTimer() {
        queueTimer = queue.nextDeadline.map { loop.core.schedule(self, at: $0) }
    }

    private func expire(_ now: Instant) {
        while let entry = queue.next(dueAt: now) {
            let message = "\(entry.commands.last?.name ?? "") has waited too long for a connection to Redis."
            entry.completion(.failure(RedisError(.unavailable, message)))
        }
        startQueueTimer()
    }

    private func failQueue(_ error: RedisError) {
        stop(&queueTimer)
        while let entry = queue.next() { entry.completion(.failure(error)) }
    }

    private func cancel(_ id: UInt64) {
        if let entry = queue.take(id) {
            entry.completion(.failure(RedisWait.cancelled))
        } else {
            connection?.onLoop(loop, id) { $0.cancel($1) }
        }
    }

    // MARK: Timers

    private func stop(_ timer: inout TimerID?) {
        if let timer { loop.core.cancel(timer) }
        timer = nil
    }

    fileprivate func fired(_ timer: TimerID, now: Instant) {
        if timer == retryTimer {
            retryTimer = nil
            connect()
        } else if timer == queueTimer {
            queueTimer = nil
            expire(now)
        }
    }

    // MARK: Subscriptions

    // One of the connection for each channel, made anew on each connection.

    /// Subscribes to a channel; of several subscribers on this machine the server sees one.
    ///
    /// - Parameters:
    ///   - channel: the channel.
    ///   - handler: called on the loop with each event; perhaps before this returns.
    /// - Returns: what ``unsubscribe(_:)`` knows the subscriber by.
    func subscribe(
        to channel: RedisChannel,
        _ handler: @escaping RedisSubscriptions.Handler
    ) -> RedisSubscriptionID {
        let (id, next) = subscriptions.add(channel, handler)
        switch next {
        case .ask(let generation): subscribe(channel, generation)
        case .active: handler(.active)
        case .wait: break
        }
        return id
    }

    /// Removes a subscriber, which gets nothing more; after the last one of a channel, the server is asked to
    /// unsubscribe.
    func unsubscribe(_ id: RedisSubscriptionID) {
        guard subscriptions.remove(id), let connection else { return }
        let channel = id.channel
        let kind = channel.kind.unsubscribe
        connection.onLoop(loop, (kind, channel.name)) { connection, argument in
            let (kind, name) = argument
            connection.submit(
                RedisCommand(.text(kind), .bytes(name)),
                confirmedBy: .init(kind: kind.lowercased(), channel: name)
            ) { _ in }
        }
    }

    /// Asks the server, if there is a connection.
    func subscribe(_ channel: RedisChannel, _ generation: UInt64) {
        guard let connection else { return }
        let kind = channel.kind.subscribe
        let completion: RedisConnection.Completion = { [weak self] result in
            guard let self else { return }
            onLoop(loop, (channel, generation, result)) { $0.answered($1.0, $1.1, $1.2) }
        }
        connection.onLoop(loop, (kind, channel.name, completion)) { connection, argument in
            let (kind, name, completion) = argument
            connection.submit(
                RedisCommand(.text(kind), .bytes(name)),
                confirmedBy: .init(kind: kind.lowercased(), channel: name),
                completion
            )
        }
    }

    private func answered(_ channel: RedisChannel, _ generation: UInt64, _ result: Result<RedisValue, RedisError>) {
        switch result {
        case .success:
            for handler in subscriptions.answered(channel, generation, isActive: true) { handler(.active) }
        case .failure(let error) where error.code == .refused || error.code == .busy:
            for handler in subscriptions.answered(channel, generation, isActive: false) { handler(.refused(error)) }
        case .failure:
            // With its connection; it is asked again on the next one.
            break
        }
    }

    /// What the server sends without being asked.
    func pushed(_ values: [RedisValue]) {
        guard values.count >= 3, let name = values[1].bytes else { return }
        switch values[0].text {
        case "message": deliver(values[2], RedisChannel(.plain, name))
        case "smessage": deliver(values[2], RedisChannel(.sharded, name))
        case "pmessage": deliver(values, RedisChannel(.pattern, name))
        case "sunsubscribe": dropped(RedisChannel(.sharded, name))
        default: break
        }
    }

    private func deliver(_ value: RedisValue, _ channel: RedisChannel) {
        guard case .bulk(let message) = value else { return }
        for handler in subscriptions.handlers(of: channel) { handler(.message(message)) }
    }

    private func deliver(_ values: [RedisValue], _ pattern: RedisChannel) {
        guard values.count >= 4, case .bulk(let channel) = values[2], case .bulk(let message) = values[3] else {
            return
        }
        for handler in subscriptions.handlers(of: pattern) { handler(.matched(message, channel: channel)) }
    }

    /// A slot has gone to another node; that it has is what the server answers then.
    private func dropped(_ channel: RedisChannel) {
        guard let (handlers, generation) = subscriptions.dropped(channel) else { return }
        for handler in handlers { handler(.interrupted) }
        subscribe(channel, generation)
    }
}

extension RedisLink: TimerTarget {
    nonisolated func timerFired(_ timer: TimerID, now: Instant) {
        onLoop(loop, (timer, now)) { $0.fired($1.0, now: $1.1) }
    }
}

/// What a connection knows its link by, without keeping it.
private final class RedisLinkReference: Sendable {
    private weak let link: RedisLink?

    init(_ link: RedisLink) {
        self.link = link
    }

    func pushed(_ values: [RedisValue], _ number: Int) {
        guard let link else { return }
        link.onLoop(link.loop, (values, number)) { $0.pushed($1.0, $1.1) }
    }

    func ended(_ error: RedisError, _ number: Int) {
        guard let link else { return }
        link.onLoop(link.loop, (error, number)) { $0.ended($1.0, $1.1) }
    }
}
