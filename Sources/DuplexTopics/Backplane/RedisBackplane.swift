// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// Joins the topics of many machines by a Redis that they share: one server, one that sentinels watch, or a cluster.
///
/// Redis 7 or newer, or what speaks as it does. Each topic lies in one slot: its messages go by one channel of its own,
/// and what is kept of it is changed by scripts, so that it is whole at any time. A node has one subscription for each
/// topic or pattern, and one connection to each server.
///
/// When a connection is lost, messages of topics that keep some are sent again on the next one, in their order, and are
/// published once; as many of them, and for so long, as ``RedisOptions/whenDisconnected`` has it. Messages of other topics
/// that were on their way fail, since they may have been delivered. A master that fails takes with it what none of its
/// replicas has yet, also what it has answered: a topic that lacks messages that a node knows of gets another epoch.
final class RedisBackplane: Backplane {
    private let loop: EventLoop
    private let ownsLoop: Bool
    private let client: any RedisClient
    private let inbox: RedisInbox
    private let core: LoopBound<RedisBackplaneCore>

    /// Makes a backplane; nothing is connected before it is started.
    ///
    /// - Parameters:
    ///   - deployment: the servers.
    ///   - prefix: what the names of all keys and channels begin with, and a colon after it: apps with different ones
    ///     don't see each other. Default: `duplex`.
    ///   - options: deadlines, bounds, waits. Default: the default ones.
    /// - Throws: ``TopicError`` with `invalidURL` for a deployment that leads nowhere, with `invalidName` for a prefix
    ///   that is empty or has braces, and with `unavailable` when the system has no thread for it.
    convenience init(
        _ deployment: RedisDeployment,
        prefix: String = "duplex",
        options: RedisOptions = RedisOptions()
    ) throws(TopicError) {
        _ = try RedisTopicNames(prefix)
        try deployment.check()
        let loop: EventLoop
        do {
            loop = try EventLoop(name: "duplex-redis")
        } catch {
            throw TopicError(.unavailable, "No event loop could be started for Redis: \(error)")
        }
        try self.init(deployment, prefix: prefix, options: options, loop: loop, ownsLoop: true)
    }

    /// Makes a backplane of one server.
    ///
    /// - Parameters:
    ///   - url: where it is, such as `rediss://user:password@cache:6379/0` or `unix:///run/redis.sock`; see
    ///     ``RedisURL``.
    ///   - prefix: as in ``init(_:prefix:options:)-(RedisDeployment,_,_)``.
    ///   - options: as of the other one.
    /// - Throws: as the other one does.
    convenience init(
        _ url: String,
        prefix: String = "duplex",
        options: RedisOptions = RedisOptions()
    ) throws(TopicError) {
        try self.init(.one(try RedisURL(url)), prefix: prefix, options: options)
    }

    /// Makes a backplane on a loop that there is.
    convenience init(
        _ deployment: RedisDeployment,
        prefix: String = "duplex",
        options: RedisOptions = RedisOptions(),
        loop: EventLoop
    ) throws(TopicError) {
        try self.init(deployment, prefix: prefix, options: options, loop: loop, ownsLoop: false)
    }

    private init(
        _ deployment: RedisDeployment,
        prefix: String,
        options: RedisOptions,
        loop: EventLoop,
        ownsLoop: Bool
    ) throws(TopicError) {
        self.loop = loop
        self.ownsLoop = ownsLoop
        let names = try RedisTopicNames(prefix)
        client = try deployment.makeClient(options, on: loop)
        inbox = RedisInbox(mostMessages: options.unansweredCommands, mostBytes: options.unansweredBytes.bytes)
        core = LoopBound(RedisBackplaneCore(client, names, options, inbox), on: loop.thread)
    }

    deinit {
        guard inbox.end() else { return }
        let (core, client, loop, ownsLoop) = (core, client, loop, ownsLoop)
        Task { await Self.close(core, client, loop, ownsLoop: ownsLoop) }
    }

    /// Whether a node can subscribe to patterns: not in a cluster, where each channel is at one server alone.
    ///
    /// Where it can't, ``subscribe(to:)`` with a pattern does nothing.
    var supportsPatterns: Bool { client.supportsPatterns }

    // MARK: Coming and going

    /// Begins to connect, and calls the listener from then on.
    ///
    /// Called once. The listener isn't kept.
    ///
    /// - Parameter listener: the node's.
    func start(_ listener: any BackplaneListener) {
        let core = core
        loop.execute { _ in core.value.start(listener) }
    }

    /// Ends it: the members of this node leave, and pending completions get `unavailable`.
    ///
    /// Twice is the same as once. Returns once the connections are closed; Redis, where it can be reached, has
    /// ``RedisOptions/responseTimeout`` to hear of it.
    func close() async {
        if inbox.end() { await Self.close(core, client, loop, ownsLoop: ownsLoop) }
    }

    private static func close(
        _ core: LoopBound<RedisBackplaneCore>,
        _ client: any RedisClient,
        _ loop: EventLoop,
        ownsLoop: Bool
    ) async {
        await withCheckedContinuation { continuation in
            loop.execute { _ in
                core.value.close { continuation.resume() }
            }
        }
        await client.close()
        if ownsLoop { await loop.stop() }
    }

    /// Hands an operation to the loop, which is woken once for any number of them.
    private func add(_ operation: RedisOperation) {
        switch inbox.add(operation) {
        case .added: break
        case .asks:
            let core = core
            loop.execute { _ in core.value.work() }
        case .full: operation.fail(TopicError(.unavailable, "As many messages are on their way to Redis as may be."))
        case .over: operation.fail(RedisBackplaneCore.closed)
        }
    }

    private func ask<Value: Sendable>(
        _ operation: (@escaping RedisOperation.Completion<Value>) -> RedisOperation
    ) async throws(TopicError) -> Value {
        let result = await withCheckedContinuation { continuation in
            add(operation { continuation.resume(returning: $0) })
        }
        return try result.get()
    }

    // MARK: Messages

    /// Publishes a message; see ``Backplane/publish(_:keeping:_:)``.
    ///
    /// Its completion is called on the event loop of the backplane, or at once where there is no room.
    func publish(
        _ message: BackplaneMessage,
        keeping history: TopicOptions.History?,
        _ completion: @escaping @Sendable (Result<TopicPosition?, TopicError>) -> Void
    ) {
        guard message.origin.utf8.count <= TopicFrame.longestName else {
            let error = TopicError(
                .invalidRequest,
                "The name of an origin has \(TopicFrame.longestName) bytes at most."
            )
            return completion(.failure(error))
        }
        add(.publish(RedisPublication(message, keeping: history, completion)))
    }

    /// Subscribes this node to a topic, or a pattern except in a cluster; see ``Backplane/subscribe(to:)``.
    func subscribe(to name: String) {
        add(.subscribe(name))
    }

    /// Ends a subscription.
    func unsubscribe(from name: String) {
        add(.unsubscribe(name))
    }

    /// The history of a topic after a number: the last 100,000 messages at most, and 48 MiB of them.
    ///
    /// - Parameters:
    ///   - topic: its name.
    ///   - number: the offset behind which it begins.
    /// - Returns: messages that follow each other without a gap, up to the last that is kept.
    /// - Throws: ``TopicError`` with `unavailable`. Cancelling doesn't end the wait, which the options bound.
    func history(of topic: String, behind number: UInt64) async throws(TopicError) -> BackplaneHistory {
        try await ask { .history(topic: topic, behind: number, $0) }
    }

    // MARK: Presence

    /// Adds a member of this node to a topic; see ``RedisOptions/presenceLease``.
    func enter(_ member: PresenceMember, in topic: String) {
        add(.enter(member, topic: topic))
    }

    /// Removes a member of this node.
    func leave(_ id: String, in topic: String) {
        add(.leave(id: id, topic: topic))
    }

    /// Reports joins and leaves of a topic to the listener; after an interruption, those during it.
    ///
    /// For a topic with more than 100,000 members the changes during it aren't reported.
    func watchPresence(in topic: String, _ isWatched: Bool) {
        add(.watch(topic: topic, isWatched))
    }

    /// Who is present in a topic by any node, each once.
    ///
    /// - Parameters:
    ///   - topic: its name.
    ///   - limit: the most that are returned; 100,000 in any case.
    /// - Returns: the members, in any order.
    /// - Throws: ``TopicError`` with `unavailable`. Cancelling doesn't end the wait, which the options bound.
    func members(of topic: String, limit: Int) async throws(TopicError) -> [PresenceMember] {
        try await ask { .members(topic: topic, limit: limit, $0) }
    }

    /// How many are present in a topic by any node, each counted once, at the same cost however many they are.
    ///
    /// - Parameter topic: its name.
    /// - Returns: the number.
    /// - Throws: ``TopicError`` with `unavailable`. Cancelling doesn't end the wait, which the options bound.
    func memberCount(of topic: String) async throws(TopicError) -> Int {
        try await ask { .memberCount(topic: topic, $0) }
    }
}
