// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWebSockets
public import DuplexWire

/// A client of the JSON protocol of topics: it subscribes, publishes and is present, and it reconnects.
///
/// ```swift
/// let client = TopicClient("wss://example.com/topics")
/// try await client.publish("hi", to: "room/42")
/// for try await message in client.subscribe(to: "room/42", replay: .last(20)) { print(message.text) }
/// ```
///
/// When the connection is lost it reconnects, resumes its subscriptions, and enters and watches again. Pending requests
/// are sent again, except publications, which may have been done already. It connects when it is first used;
/// ``close()`` ends it, and so does dropping the last reference.
public actor TopicClient {
    /// The loop that it lives on, and its connections.
    public nonisolated let loop: EventLoop
    /// What it was made with.
    package nonisolated let options: TopicClientOptions

    let socket: ReconnectingWebSocket
    private(set) var running: Task<Void, Never>?
    /// The connection that is open.
    var connection: WebSocket?
    var end: Result<Void, TopicError>?

    var requests: [Int64: PendingRequest] = [:]
    /// How many bytes they have.
    var requestBytes = 0
    var lastID: Int64 = 0
    var subscriptions: [String: ClientTopic] = [:]
    var watches: [String: ClientWatch] = [:]
    /// Where it is present, and what it says of itself there.
    var entries: [String: String] = [:]

    /// Makes a client; it connects when it is used.
    ///
    /// - Parameters:
    ///   - url: where the server speaks the protocol, `wss://…` or `ws://…`.
    ///   - options: how it connects, and its bounds.
    ///   - group: the loops of which one becomes the client's.
    public init(_ url: String, options: TopicClientOptions = TopicClientOptions(), on group: EventLoopGroup = .shared) {
        socket = ReconnectingWebSocket(url, policy: options.policy, options: options.reconnectOptions, on: group)
        loop = socket.loop
        self.options = options
    }

    deinit {
        running?.cancel()
        let timers = requests.values.map(\.timer)
        if !timers.isEmpty { loop.execute { core in for timer in timers { core.cancel(timer) } } }
    }

    /// The loop, which runs what is isolated to this actor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    /// Runs `body` on the loop, in the order of the calls.
    nonisolated func later(_ body: @escaping @Sendable (isolated TopicClient) -> Void) {
        loop.execute { _ in self.assumeIsolated { body($0) } }
    }

    // MARK: Messages

    /// The messages of a topic, or of all topics that match a pattern.
    ///
    /// The sequence subscribes when it is iterated, once at a time, and unsubscribes when its iterator is dropped or its task
    /// is cancelled. After a lost connection it resumes: each message that the server keeps comes once, and if some are missing,
    /// ``TopicMessage/isAfterGap`` is true. The subscriptions of one client may not overlap, as `room/#` and `room/42` do.
    ///
    /// Ends when the client is closed or the task is cancelled. Throws a ``TopicError``: the server's refusal, `limitReached` if
    /// the client has a subscription to some of the topic already, `unavailable` when the client has given up.
    ///
    /// - Parameters:
    ///   - topic: the name, or a pattern.
    ///   - replay: what is given of the past; of a pattern nothing is. Default: nothing.
    /// - Returns: the messages.
    @inlinable
    public nonisolated func subscribe(
        to topic: String,
        replay: TopicReplay = .none
    ) -> some AsyncSequence<TopicMessage, TopicError> & Sendable {
        ClientSubscription(self, topic, replay)
    }

    /// Publishes a message.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - topic: the name of the topic.
    /// - Returns: its position; `nil` without a history.
    /// - Throws: ``TopicError``: the server's refusal; `invalidResponse` of a server that doesn't speak the protocol; `timedOut`
    ///   after ``TopicClientOptions/requestTimeout``; `unanswered` when the connection was lost before the answer, and the
    ///   message may have been published or not;
    ///   `limitReached` when too many requests wait; `closed` and `unavailable` at the end of the client.
    ///   `CancellationError`; the message may be published all the same.
    @discardableResult
    public func publish(_ message: Message, to topic: String) async throws -> TopicPosition? {
        try await ask(.publish(topic, message)).place
    }

    /// Publishes a text; see ``publish(_:to:)-(Message,_)``.
    @discardableResult
    public func publish(_ text: String, to topic: String) async throws -> TopicPosition? {
        try await publish(.text(text), to: topic)
    }

    // MARK: Presence

    /// Enters a topic, until ``leave(_:)`` or ``close()``, and again after each lost connection.
    ///
    /// The server decides who the client is there.
    ///
    /// - Parameters:
    ///   - topic: the name of the topic.
    ///   - info: what it says of itself: a text, or an object or array of JSON. Default: nothing.
    /// - Throws: as ``publish(_:to:)-(Message,_)``; `unanswered` not.
    public func enter(_ topic: String, info: String = "") async throws {
        entries[topic] = info
        do {
            _ = try await ask(.enter(topic, info: info))
        } catch {
            if entries[topic] == info {
                entries[topic] = nil
                if connection != nil { ask(.leave(topic), .entry("")) }
            }
            throw error
        }
    }

    /// Leaves a topic.
    ///
    /// - Throws: as ``enter(_:info:)``.
    public func leave(_ topic: String) async throws {
        entries[topic] = nil
        _ = try await ask(.leave(topic))
    }

    /// Who is present in a topic.
    ///
    /// - Parameters:
    ///   - topic: the name of the topic.
    ///   - limit: how many members are named; 1,000 at most. Default: 100.
    /// - Returns: how many are present, and some of them.
    /// - Throws: as ``enter(_:info:)``.
    public func presence(of topic: String, limit: Int = 100) async throws -> (count: Int, members: [PresenceMember]) {
        let reply = try await ask(.presence(topic, limit: limit))
        return (reply.count ?? 0, (reply.members ?? []).map(\.value))
    }

    /// The members of a topic, and then the joins and leaves.
    ///
    /// It begins with the present members, each as a join. Changes during a lost connection are reported after it. In a
    /// topic of more than 1,000 members only changes during a connection are reported. The watching ends when the iterator is
    /// dropped or its task is cancelled.
    ///
    /// Ends when the client is closed or the task is cancelled. Throws a ``TopicError``: the server's refusal, `limitReached` if
    /// the client watches the topic already, `slowSubscriber` once more than 10,000 changes waited, `unavailable` when the client
    /// has given up.
    ///
    /// - Parameter topic: the name of the topic; watched once at a time.
    /// - Returns: the changes.
    public nonisolated func presenceChanges(
        of topic: String
    ) -> some AsyncSequence<PresenceChange, TopicError> & Sendable {
        ClientPresenceChanges(self, topic)
    }

    // MARK: The connection

    /// The state of the connection, and then every change; as `ReconnectingWebSocket.stateChanges`.
    public nonisolated var stateChanges: AsyncStream<ReconnectChange> { socket.stateChanges }

    /// Closes the connection in order, and makes no other: sequences end, requests that wait fail with `closed`.
    public func close() async {
        finish(.success(()))
        await socket.close()
    }

    /// Begins to connect, once.
    func start() {
        guard running == nil, end == nil else { return }
        running = Task(executorPreference: loop) { [weak self, socket] in
            do {
                for try await session in socket.sessions {
                    await self?.opened(session)
                    // How it ends is for the policy, which decides whether there is another.
                    do { for try await message in session.messages { await self?.took(message) } } catch {}
                    await self?.closed(session)
                }
                await self?.finish(.success(()))
            } catch {
                await self?.finish(.failure(TopicError(.unavailable, "\(error)")))
            }
        }
    }

    func finish(_ result: Result<Void, TopicError>) {
        guard end == nil else { return }
        end = result
        running?.cancel()
        let error = endError
        for id in requests.keys { fail(id, error) }
        let failure: TopicError? = if case .failure(let error) = result { error } else { nil }
        for subscription in subscriptions.values { subscription.feed.finish(failure) }
        for watch in watches.values { watch.feed.finish(failure) }
        (subscriptions, watches, entries) = ([:], [:], [:])
    }

    /// What is asked for behind the end fails with this.
    private var endError: TopicError {
        if case .failure(let error) = end { return error }
        return TopicError(.closed, "The client is closed.")
    }

    // MARK: Requests

    /// Asks the server, on the connection that is open or on the next one.
    func ask(_ request: TopicRequest) async throws -> TopicReply {
        lastID += 1
        let id = lastID
        return try await waitOnLoop(id: UInt64(id)) { (waiter: Waiter<TopicReply>) in
            if Task.isCancelled { return waiter.resume(throwing: CancellationError()) }
            do throws(TopicError) {
                try add(request, .caller(waiter), id)
            } catch {
                waiter.resume(throwing: error)
            }
        } onCancel: {
            later { client in client.fail(id, CancellationError()) }
        }
    }

    /// Asks for something that a subscription, a watch or an entry needs.
    func ask(_ request: TopicRequest, _ asker: PendingRequest.Asker) {
        lastID += 1
        do throws(TopicError) { try add(request, asker, lastID) } catch { refused(asker, error) }
    }

    private func add(_ request: TopicRequest, _ asker: PendingRequest.Asker, _ id: Int64) throws(TopicError) {
        try TopicError.check([DurationSetting("requestTimeout", options.requestTimeout)])
        guard end == nil else { throw endError }
        let text = TopicRequestMessage(request, id: id).json
        let size = text.utf8.count
        // What the client asks for by itself is bounded by what it holds.
        guard
            !asker.isCaller || requests.count < options.requestLimit && requestBytes + size <= options.requestSize.bytes
        else {
            throw TopicError(.limitReached, "\(requests.count) requests wait for their answers, which is the limit.")
        }
        let timer = loop.core.schedule(self, at: loop.clock.now().advanced(by: options.requestTimeout))
        requests[id] = PendingRequest(request: request, asker: asker, timer: timer, size: size)
        requestBytes += size
        start()
        send(id, text)
    }

    private func send(_ id: Int64, _ text: String) {
        guard let connection else { return }
        requests[id]?.isSent = true
        connection.onLoop(loop, PreparedMessage(.text(text))) { _ = $0.enqueue($1) }
    }

    private func remove(_ id: Int64) -> PendingRequest? {
        guard let request = requests.removeValue(forKey: id) else { return nil }
        loop.core.cancel(request.timer)
        requestBytes -= request.size
        return request
    }

    func fail(_ id: Int64, _ error: any Error) {
        guard let request = remove(id) else { return }
        if case .caller(let waiter) = request.asker { return waiter.resume(throwing: error) }
        if let error = error as? TopicError, end == nil { refused(request.asker, error) }
    }

    // MARK: Opened and closed

    func opened(_ session: WebSocket) {
        guard end == nil else { return }
        connection = session
        for name in subscriptions.keys { askForMessages(name) }
        for (topic, info) in entries { ask(.enter(topic, info: info), .entry(topic)) }
        for topic in watches.keys { ask(.watch(topic), .watch(topic)) }
        for (id, request) in requests.sorted(by: { $0.key < $1.key }) where !request.isSent {
            send(id, TopicRequestMessage(request.request, id: id).json)
        }
    }

    func closed(_ session: WebSocket) {
        guard connection === session else { return }
        connection = nil
        for (id, request) in requests where request.isSent {
            guard case .caller = request.asker else {
                // Asked for anew on the next one.
                _ = remove(id)
                continue
            }
            if request.request.isRepeatable {
                requests[id]?.isSent = false
            } else {
                fail(id, TopicError(.unanswered, "The connection was lost before the answer came."))
            }
        }
        for name in subscriptions.keys where subscriptions[name]?.position == nil {
            if subscriptions[name]?.isBegun == true { subscriptions[name]?.isAfterGap = true }
        }
    }

    // MARK: What comes

    func took(_ message: Message) {
        guard end == nil, let reply = TopicReply(message) else { return }
        if let topic = reply.topic {
            took(reply, topic)
        } else if let id = reply.id, let request = remove(id) {
            answered(request, reply)
        }
    }

    private func took(_ reply: TopicReply, _ topic: String) {
        if let change = reply.change {
            watches[topic]?.took(change)
        } else if let missed = reply.missed {
            let before = subscriptions[topic]?.missed ?? 0
            subscriptions[topic]?.missed = TopicMessage.sum(before, max(0, missed))
            subscriptions[topic]?.isAfterGap = true
        } else if let message = reply.published, let name = subscription(of: topic) {
            if reply.gap == true { subscriptions[name]?.isAfterGap = true }
            let taken = subscriptions[name]?.took(topic, message, reply.place, isPattern: name != topic)
            if let taken { subscriptions[name]?.feed.put(taken, size: message.byteCount + 160) }
        }
    }

    /// The subscription that a topic's messages come by: there is one, as they don't overlap.
    private func subscription(of topic: String) -> String? {
        if subscriptions[topic] != nil { return topic }
        return subscriptions.keys.first { Self.overlap($0, topic) }
    }

    private func answered(_ request: PendingRequest, _ reply: TopicReply) {
        if let refusal = reply.refusal {
            if case .caller(let waiter) = request.asker { return waiter.resume(throwing: refusal) }
            return refused(request.asker, refusal)
        }
        switch request.asker {
        case .caller(let waiter): waiter.resume(returning: reply)
        case .subscription(let name, let feed): if holds(name, feed) { subscriptions[name]?.begins(reply) }
        case .watch(let topic): if watches[topic] != nil { list(topic) }
        case .listing(let topic): watches[topic]?.listed((reply.members ?? []).map(\.value), of: reply.count ?? 0)
        case .entry: break
        }
    }

    private func list(_ topic: String) {
        ask(.presence(topic, limit: ClientWatch.memberLimit), .listing(topic))
    }

    private func refused(_ asker: PendingRequest.Asker, _ error: TopicError) {
        switch asker {
        case .caller: break
        case .subscription(let name, let feed):
            if holds(name, feed) { subscriptions.removeValue(forKey: name)?.feed.finish(error) }
        case .watch(let topic), .listing(let topic): watches.removeValue(forKey: topic)?.feed.finish(error)
        case .entry(let topic): entries[topic] = nil
        }
    }

    // MARK: Subscriptions and watches

    func begin(_ name: String, _ replay: TopicReplay, _ feed: ClientFeed<TopicMessage>) {
        guard end == nil else { return finished(feed) }
        if let other = subscriptions.keys.first(where: { Self.overlap($0, name) }) {
            return feed.finish(TopicError(.limitReached, "The client is subscribed to \(other) already."))
        }
        subscriptions[name] = ClientTopic(feed: feed, replay: replay)
        start()
        if connection != nil { askForMessages(name) }
    }

    private func askForMessages(_ name: String) {
        guard let wish = subscriptions[name]?.wish else { return }
        subscriptions[name]?.isLive = false
        guard let feed = subscriptions[name]?.feed else { return }
        ask(.subscribe(name, wish), .subscription(name, ObjectIdentifier(feed)))
    }

    /// Whether a subscription is the one that was asked for, and not a later one of that name.
    private func holds(_ name: String, _ feed: ObjectIdentifier) -> Bool {
        subscriptions[name].map { ObjectIdentifier($0.feed) } == feed
    }

    func end(_ name: String, _ feed: ClientFeed<TopicMessage>) {
        guard subscriptions[name]?.feed === feed else { return }
        subscriptions[name] = nil
        if connection != nil { ask(.unsubscribe(name), .entry("")) }
    }

    func beginWatch(_ topic: String, _ feed: ClientFeed<PresenceChange>) {
        guard end == nil else { return finished(feed) }
        guard watches[topic] == nil else {
            return feed.finish(TopicError(.limitReached, "The client watches \(topic) already."))
        }
        watches[topic] = ClientWatch(feed)
        start()
        if connection != nil { ask(.watch(topic), .watch(topic)) }
    }

    func endWatch(_ topic: String, _ feed: ClientFeed<PresenceChange>) {
        guard watches[topic]?.feed === feed else { return }
        watches[topic] = nil
        if connection != nil { ask(.unwatch(topic), .entry("")) }
    }

    private func finished<Element>(_ feed: ClientFeed<Element>) {
        if case .failure(let error) = end { feed.finish(error) } else { feed.finish() }
    }

    /// Whether some topic is meant by both of two names or patterns.
    static func overlap(_ one: String, _ other: String) -> Bool {
        var (one, other) = (one.split(separator: "/")[...], other.split(separator: "/")[...])
        while true {
            let (first, second) = (one.popFirst(), other.popFirst())
            if first == "#" || second == "#" { return true }
            guard let first, let second else { return first == nil && second == nil }
            guard first == second || first == "+" || second == "+" else { return false }
        }
    }

    private func fired(_ timer: TimerID) {
        guard let id = requests.first(where: { $0.value.timer == timer })?.key else { return }
        let asker = requests[id]?.asker
        if case .caller = asker {
            return fail(id, TopicError(.timedOut, "No answer came in \(options.requestTimeout)."))
        }
        _ = remove(id)
        guard let asker, connection != nil else { return }
        // Whether the connection lives is found out by a ping; on a new one all is asked for anew.
        Task(executorPreference: loop) { [socket] in await socket.networkChanged() }
        switch asker {
        case .caller: break
        case .subscription(let name, let feed): if holds(name, feed) { askForMessages(name) }
        case .watch(let topic), .listing(let topic): if watches[topic] != nil { ask(.watch(topic), .watch(topic)) }
        case .entry(let topic): if let info = entries[topic] { ask(.enter(topic, info: info), .entry(topic)) }
        }
    }
}

/// How a ``TopicClient`` connects, how long it waits, and how much it keeps.
public struct TopicClientOptions: Sendable {
    /// How it connects.
    ///
    /// Default: those of `ReconnectOptions`.
    public var reconnectOptions = ReconnectOptions()
    /// When it connects again, and when it gives up.
    ///
    /// Default: for ever, after waits of up to 250 ms that double up to 30 s.
    public var policy = ReconnectPolicy.standard
    /// How long a request waits for its answer, the time without a connection included.
    ///
    /// Default: 10 s.
    public var requestTimeout = Duration.seconds(10)
    /// How many requests may wait for their answers.
    ///
    /// Default: 1,000.
    public var requestLimit = 1_000
    /// How many bytes of them may.
    ///
    /// Default: 16 MiB.
    package var requestSize = ByteCount.mebibytes(16)
    /// How many messages wait for a slow task; the oldest are dropped then, and counted in ``TopicMessage/missed``.
    ///
    /// Default: 1,000 for each subscription.
    public var messageLimit = 1_000
    /// How many bytes of them wait.
    ///
    /// Default: 16 MiB for each subscription.
    public var messageSize = ByteCount.mebibytes(16)

    /// Makes options with the defaults.
    public init() {}
}

/// A request that waits for its answer.
struct PendingRequest {
    /// Who waits for it.
    enum Asker {
        case caller(Waiter<TopicReply>)
        /// A subscription, a watch, or a presence of the client, as of its names.
        case subscription(String, ObjectIdentifier)
        case watch(String)
        case listing(String)
        case entry(String)

        var isCaller: Bool { if case .caller = self { true } else { false } }
    }

    let request: TopicRequest
    let asker: Asker
    let timer: TimerID
    let size: Int
    var isSent = false
}

// A loop doesn't keep what its timers are for.
extension TopicClient: TimerTarget {
    package nonisolated func timerFired(_ timer: TimerID, now: Instant) {
        onLoop(loop, timer) { $0.fired($1) }
    }
}
