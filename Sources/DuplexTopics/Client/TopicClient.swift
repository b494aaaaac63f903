// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import DuplexWebSockets
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
    public nonisolated let options: TopicClientOptions

    let socket: ReconnectingWebSocket
    private var running: Task<Void, Never>?
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
        socket = ReconnectingWebSocket(urls: [url], policy: options.policy, options: options.connection, on: group)
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
    /// After a lost connection it resumes: each message that the server keeps comes once. The subscriptions of one
    /// client may not overlap, as `room/#` and `room/42` do.
    ///
    /// - Parameters:
    ///   - topic: the name, or a pattern.
    ///   - replay: what is given of the past; of a pattern nothing is. Default: nothing.
    /// - Returns: the messages.
    public nonisolated func subscribe(to topic: String, replay: TopicReplay = .none) -> ClientSubscription {
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
    /// topic of more than 1,000 members only changes during a connection are reported.
    ///
    /// - Parameter topic: the name of the topic; watched once at a time.
    /// - Returns: the changes.
    public nonisolated func presenceChanges(of topic: String) -> ClientPresenceChanges {
        ClientPresenceChanges(self, topic)
    }

    // MARK: The connection

    /// The state of the connection, and then every change; as `ReconnectingWebSocket.states`.
    public nonisolated var states: AsyncStream<ReconnectChange> { socket.states }

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
    var endError: TopicError {
        if case .failure(let error) = end { return error }
        return TopicError(.closed, "The client is closed.")
    }
}
