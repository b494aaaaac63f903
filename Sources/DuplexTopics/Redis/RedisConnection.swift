// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexSockets
import DuplexWire

/// One connection to a Redis server, on the loop that it lives on.
///
/// Any number of commands are under way at a time; answers come in their order. What is written in a turn of the loop
/// goes out together. The connection ends when an answer is late, when the server sends what isn't RESP,
/// and when the network fails: all waiters are notified at once.
actor RedisConnection {
    /// Told what came of a command, on the loop, once.
    typealias Completion = @Sendable (Result<RedisValue, RedisError>) -> Void

    /// The loop that the connection lives on.
    nonisolated let loop: EventLoop
    /// What it is connected to.
    nonisolated let url: RedisURL
    nonisolated let channel: LoopBound<Channel>
    let options: RedisOptions
    /// As of the options, in nanoseconds: taking a duration apart for each command would cost as much as the rest of it.
    private let responseTimeout: Int64
    private var parser = RedisParser()

    /// A command that was sent and has no answer yet, or waits to be sent.
    struct Entry {
        /// What a task that is cancelled knows it by; 0 where nobody cancels.
        var id: UInt64
        var name: String
        var size: Int
        var deadline: Instant
        /// What its answer is: a push, where it subscribes.
        var confirmation: Confirmation?
        var completion: Completion

        init(
            _ command: RedisCommand,
            _ id: UInt64,
            _ deadline: Instant,
            _ confirmation: Confirmation?,
            _ completion: @escaping Completion
        ) {
            self.id = id
            name = command.name
            size = command.encodedCount
            self.deadline = deadline
            self.confirmation = confirmation
            self.completion = completion
        }
    }

    /// The push that answers a command; by reference, as few commands have one.
    final class Confirmation: Sendable {
        let kind: String
        let channel: [UInt8]

        init(kind: String, channel: [UInt8]) {
            self.kind = kind
            self.channel = channel
        }
    }

    /// The commands without an answer, the next one to be answered first.
    private var unanswered: Deque<Entry> = []
    private var unansweredBytes = 0
    /// Commands of tasks that wait for room.
    private var backlog: Deque<(command: RedisCommand, entry: Entry)> = []

    private var timer: TimerID?
    private var timerDue = Instant(nanoseconds: .max)
    private var lastReceived: Instant

    /// Gets what the server sends without being asked, in its order.
    var pushHandler: (@Sendable ([RedisValue]) -> Void)?
    /// Told once why the connection has ended.
    var endHandler: (@Sendable (RedisError) -> Void)?
    /// Why it has ended.
    private(set) var end: RedisError?
    /// What the server has said of itself.
    var greeting = RedisValue.null
    /// Whether the connection ends when the server turns out to be a replica.
    var mustBeMaster = false

    init(_ url: RedisURL, options: RedisOptions, loop: EventLoop, channel: LoopBound<Channel>) {
        self.url = url
        self.options = options
        responseTimeout = options.responseTimeout.wholeNanoseconds
        self.loop = loop
        self.channel = channel
        lastReceived = channel.value.core.now
        channel.value.handler = self
        channel.value.isReading = true
    }

    deinit {
        let channel = channel
        loop.execute { _ in channel.value.reset() }
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    // MARK: Commands

    /// Sends a command, without waiting for room: what doesn't fit fails with ``RedisError/Code/busy``.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - confirmation: the push that is its answer, of one that subscribes.
    ///   - completion: called with the result; perhaps before this returns.
    func send(
        _ command: RedisCommand,
        confirmedBy confirmation: Confirmation? = nil,
        _ completion: @escaping Completion
    ) {
        if let end { return completion(.failure(end)) }
        guard backlog.isEmpty, hasRoom(for: command.encodedCount) else {
            let message = "\(unanswered.count) commands without an answer are as many as may be sent."
            return completion(.failure(RedisError(.busy, message)))
        }
        let now = channel.value.core.now
        write(command, 0, now.advanced(nanoseconds: responseTimeout), confirmation, completion)
    }

    /// Runs a command; waits while as many are unanswered as may be.
    ///
    /// Cancelling ends the wait; the command is run all the same unless it waited for room.
    ///
    /// - Parameter command: the command.
    /// - Returns: the answer.
    /// - Throws: ``RedisError``, `CancellationError`.
    func run(_ command: RedisCommand) async throws -> RedisValue {
        let id = RedisWait.next()
        return try await waitOnLoop(id: id) { (waiter: Waiter<RedisValue>) in
            submit(command, id: id) { RedisWait.end(waiter, $0) }
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancel(id) } }
        }
    }

    /// Runs a command; see ``run(_:)``.
    func command(_ words: RedisCommand.Word...) async throws -> RedisValue {
        try await run(RedisCommand(words))
    }

    /// Sends a command, or has it wait for room.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - confirmation: as of ``send(_:confirmedBy:_:)``.
    ///   - id: what ``cancel(_:)`` knows the wait by; 0 for one that nobody cancels.
    ///   - deadline: when it has to be answered. Default: after the options' time.
    ///   - completion: as of ``send(_:confirmedBy:_:)``.
    func submit(
        _ command: RedisCommand,
        confirmedBy confirmation: Confirmation? = nil,
        id: UInt64 = 0,
        by deadline: Instant? = nil,
        _ completion: @escaping Completion
    ) {
        if let end { return completion(.failure(end)) }
        let deadline = deadline ?? channel.value.core.now.advanced(nanoseconds: responseTimeout)
        if backlog.isEmpty && hasRoom(for: command.encodedCount) {
            return write(command, id, deadline, confirmation, completion)
        }
        backlog.append((command, Entry(command, id, deadline, confirmation, completion)))
        arm()
    }

    /// How many commands have no answer yet, those with them that wait for room.
    var waitingCount: Int { unanswered.count + backlog.count }

    private func hasRoom(for size: Int) -> Bool {
        if unanswered.isEmpty { return true }
        return unanswered.count < options.unansweredCommands && size <= options.unansweredBytes.bytes - unansweredBytes
    }

    private func write(
        _ command: RedisCommand,
        _ id: UInt64,
        _ deadline: Instant,
        _ confirmation: Confirmation?,
        _ completion: @escaping Completion
    ) {
        unanswered.append(Entry(command, id, deadline, confirmation, completion))
        unansweredBytes += command.encodedCount
        channel.value.write(capacity: command.encodedCount) { command.encode(into: &$0) }
        if unanswered.count == 1 { arm() }
    }

    private func sendBacklog() {
        while end == nil, let (command, entry) = backlog.first, hasRoom(for: entry.size) {
            backlog.removeFirst()
            write(command, entry.id, entry.deadline, entry.confirmation, entry.completion)
        }
    }

    /// Ends the wait of a task; an answer that still comes is dropped.
    func cancel(_ id: UInt64) {
        if let index = backlog.firstIndex(where: { $0.entry.id == id }) {
            backlog.remove(at: index).entry.completion(.failure(RedisWait.cancelled))
        } else if let index = unanswered.firstIndex(where: { $0.id == id }) {
            let completion = unanswered[index].completion
            unanswered[index].completion = { _ in }
            completion(.failure(RedisWait.cancelled))
        }
    }

    // MARK: Answers

    private func take(_ bytes: RawSpan) {
        lastReceived = channel.value.core.now
        var position = 0
        do throws(RedisProtocolError) {
            while end == nil, let message = try parser.next(bytes, from: &position) {
                switch message {
                case .answer(let value): answer(value)
                case .push(let values): take(push: values)
                }
            }
        } catch {
            finish(RedisError(.malformed, error.message))
        }
        sendBacklog()
    }

    private func answer(_ value: RedisValue) {
        guard let entry = takeUnanswered() else {
            return finish(RedisError(.malformed, "The server has answered what nobody has asked."))
        }
        if case .error(let reply) = value {
            let error = RedisError(reply, hiding: url.credentials?.password)
            entry.completion(.failure(error))
            if mustBeMaster && error.tellsOfOtherMaster { finish(RedisError(.notMaster, error.message)) }
        } else if entry.confirmation != nil {
            let error = RedisError(.malformed, "The server has answered a subscription as a command.")
            entry.completion(.failure(error))
            finish(error)
        } else {
            entry.completion(.success(value))
        }
    }

    /// A push that somebody waits for is his answer; it goes to the handler before, as all do.
    private func take(push values: [RedisValue]) {
        pushHandler?(values)
        guard values.count >= 2, let expected = unanswered.first?.confirmation,
            values[0].text == expected.kind, values[1].bytes == expected.channel
        else { return }
        takeUnanswered()?.completion(.success(.null))
    }

    private func takeUnanswered() -> Entry? {
        guard let entry = unanswered.popFirst() else { return nil }
        unansweredBytes -= entry.size
        return entry
    }

    // MARK: Time

    private var nextDue: Instant {
        let answer = unanswered.first?.deadline ?? lastReceived.advanced(by: options.pingInterval)
        return backlog.first.map { min($0.entry.deadline, answer) } ?? answer
    }

    /// Has the timer fire when something is due; one that fires too early is set anew then.
    func arm() {
        guard end == nil else { return }
        let due = nextDue
        guard timer == nil || due < timerDue else { return }
        stopTimer()
        timerDue = due
        timer = channel.value.core.schedule(self, at: due)
    }

    private func stopTimer() {
        if let timer { channel.value.core.cancel(timer) }
        timer = nil
    }

    private func fired(_ fired: TimerID, now: Instant) {
        guard fired == timer else { return }
        timer = nil
        if let first = unanswered.first, first.deadline <= now {
            let message = "\(url) hasn't answered \(first.name) within \(options.responseTimeout)."
            return finish(RedisError(.timedOut, message))
        }
        while let first = backlog.first, first.entry.deadline <= now {
            backlog.removeFirst()
            first.entry.completion(.failure(RedisError(.busy, "\(first.entry.name) has waited too long for room.")))
        }
        if unanswered.isEmpty, lastReceived.advanced(by: options.pingInterval) <= now {
            send(RedisCommand("PING")) { _ in }
        }
        arm()
    }

    // MARK: The end

    /// Ends the connection at once; whoever waits gets ``RedisError/Code/closed``.
    func close() {
        finish(RedisError(.closed, "The connection to \(url) was closed on this side."))
    }

    /// Ends the connection, and notifies all waiters.
    func finish(_ error: RedisError) {
        guard end == nil else { return }
        end = error
        stopTimer()
        channel.value.close()
        // Not by Array(_:), which writes to the empty array, and that is one for all threads.
        let entries = unanswered.map { $0 } + backlog.map(\.entry)
        unanswered = []
        backlog = []
        let handler = endHandler
        endHandler = nil
        pushHandler = nil
        // Before the commands, so that whoever sends one anew isn't given this connection again.
        handler?(error)
        for entry in entries { entry.completion(.failure(error)) }
    }

    // MARK: Connecting

    // The network, then HELLO, the database, and whether the server is ready.

    /// Connects and logs in.
    ///
    /// - Parameters:
    ///   - url: where to, and who logs in.
    ///   - options: deadlines and bounds.
    ///   - loop: the loop that the connection will live on.
    /// - Returns: a connection to a server that runs commands.
    /// - Throws: ``RedisError``; `CancellationError`.
    static func connect(to url: RedisURL, options: RedisOptions, on loop: EventLoop) async throws -> RedisConnection {
        let deadline = loop.clock.now().advanced(by: options.connectOptions.timeout)
        let connection: RedisConnection
        do {
            connection = try await Connector.connect(to: url.endpoint, on: loop, options: options.connectOptions) {
                channel,
                _ in RedisConnection(url, options: options, loop: loop, channel: channel)
            }
        } catch let error as SocketError {
            throw RedisError(.cannotConnect, error.description)
        }
        do {
            try await connection.greet(by: deadline)
        } catch {
            await connection.close()
            throw error
        }
        return connection
    }

    /// What the server is: `master`, `replica` or `sentinel`.
    var role: String? {
        // A sentinel sends its mode only.
        let mode = greeting.value(of: "mode")?.text
        return mode == "sentinel" ? mode : greeting.value(of: "role")?.text
    }

    /// Says who this is, chooses the database, and asks whether the server is ready, in one go.
    private func greet(by deadline: Instant) async throws {
        let steps = RedisGreeting(url: url, name: options.clientName).commands
        let answers = try await waitOnLoop { (waiter: Waiter<[Result<RedisValue, RedisError>]>) in
            let batch = LoopBound(RedisBatch(steps.count) { waiter.resume(returning: $0) }, on: loop.thread)
            for command in steps { submit(command, by: deadline) { batch.value.add($0) } }
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.close() } }
        }
        try Task.checkCancellation()
        greeting = try RedisGreeting.check(answers)
    }
}

// MARK: Callbacks of the loop

extension RedisConnection: ChannelHandler {
    nonisolated func received(_ bytes: inout MutableRawSpan) {
        onLoop(loop, &bytes) { $0.take($1.bytes) }
    }

    nonisolated func inputEnded() {
        onLoop(loop) { connection, _ in
            connection.finish(RedisError(.connectionLost, "\(connection.url) has ended the connection."))
        }
    }

    nonisolated func outputDrained() {}

    nonisolated func failed(_ error: SocketError) {
        onLoop(loop, error) { connection, error in
            let code: RedisError.Code = error.code == .loopStopped ? .closed : .connectionLost
            connection.finish(RedisError(code, "The connection to \(connection.url) was lost: \(error)"))
        }
    }
}

extension RedisConnection: TimerTarget {
    nonisolated func timerFired(_ timer: TimerID, now: Instant) {
        onLoop(loop, (timer, now)) { $0.fired($1.0, now: $1.1) }
    }
}

/// The first commands of a connection, and what their replies mean.
struct RedisGreeting {
    let url: RedisURL
    /// What the connection is called.
    let name: String

    /// The commands, sent in one go.
    var commands: [RedisCommand] {
        var hello: [RedisCommand.Word] = ["HELLO", 3]
        if let credentials = url.credentials {
            hello += ["AUTH", .text(credentials.user), .text(credentials.password)]
        }
        hello += ["SETNAME", .text(name)]
        var commands = [RedisCommand(hello)]
        if url.database != 0 { commands.append(RedisCommand("SELECT", .number(Int64(url.database)))) }
        // Says whether the server is ready: it greets while it reads its data.
        commands.append(RedisCommand("PING"))
        return commands
    }

    /// Looks at the answers.
    ///
    /// - Parameter answers: one for each command.
    /// - Returns: what the server has said of itself.
    /// - Throws: ``RedisError`` for a server that can't be used.
    static func check(_ answers: [Result<RedisValue, RedisError>]) throws(RedisError) -> RedisValue {
        let greeting = try hello(answers[0])
        for answer in answers[1..<(answers.count - 1)] { _ = try answer.get() }
        // A user who may not run PING gets an answer as well.
        if case .failure(let error) = answers[answers.count - 1], error.kind != .noPermission { throw error }
        return greeting
    }

    private static func hello(_ answer: Result<RedisValue, RedisError>) throws(RedisError) -> RedisValue {
        switch answer {
        case .success(let greeting): return greeting
        case .failure(let error):
            guard error.kind == .noProtocol || error.kind == .general && error.message.contains("unknown command")
            else {
                throw error
            }
            throw RedisError(.malformed, "The server doesn't know RESP3: Redis 6 or later is needed. \(error.message)")
        }
    }
}
