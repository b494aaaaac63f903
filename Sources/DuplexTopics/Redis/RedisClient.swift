// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// The Redis that machines share, however its servers are arranged: commands and subscriptions over links that come back.
///
/// Lives on one loop. Only ``start()``, ``run(_:key:)`` and ``close()`` wait; callbacks are on the loop.
actor RedisClient {
    /// Names one local subscriber.
    enum SubscriptionID: Sendable, Hashable {
        case ofLink(RedisSubscriptionID)
        case ofCluster(UInt64)
    }

    private enum Servers {
        case one(RedisLink)
        case watched(RedisLink, RedisSentinels)
        case cluster(RedisCluster)
    }

    nonisolated let loop: EventLoop
    private let servers: Servers

    /// Makes a client; see ``start()``.
    ///
    /// - Throws: ``TopicError`` with ``TopicError/Code/invalidURL`` for a deployment that leads nowhere.
    init(_ deployment: RedisDeployment, options: RedisOptions, loop: EventLoop) throws(TopicError) {
        try TopicError.check(options.durations)
        try deployment.check()
        self.loop = loop
        switch deployment {
        case .one(let url): servers = .one(RedisLink(to: url, options: options, loop: loop))
        case .sentinel(let master, let urls):
            let sentinels = RedisSentinels(of: master, at: urls, options: options, loop: loop)
            servers = .watched(sentinels.makeLink(options: options), sentinels)
        case .cluster(let nodes): servers = .cluster(RedisCluster(nodes, options: options, loop: loop))
        }
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    /// Begins to connect.
    func start() async {
        switch servers {
        case .one(let link): await link.start()
        case .watched(let link, let sentinels):
            await sentinels.start()
            await link.start()
        case .cluster(let cluster): await cluster.start()
        }
    }

    /// Ends it all.
    func close() async {
        switch servers {
        case .one(let link): await link.close()
        case .watched(let link, let sentinels):
            await link.close()
            await sentinels.close()
        case .cluster(let cluster): await cluster.close()
        }
    }

    /// Where the client stands, and then every change; of a cluster, whether its slots are known.
    nonisolated var states: AsyncStream<RedisLinkState> {
        switch servers {
        case .one(let link), .watched(let link, _): link.states
        case .cluster(let cluster): cluster.broadcast.observe()
        }
    }

    /// How messages are published and subscribed to: in a cluster, at the node of the channel alone.
    nonisolated var channelKind: RedisChannel.Kind {
        if case .cluster = servers { .sharded } else { .plain }
    }

    /// The name of the command that publishes a message.
    nonisolated var publishingCommand: String { channelKind == .plain ? "PUBLISH" : "SPUBLISH" }

    /// The command that publishes a message.
    nonisolated func publication(_ message: [UInt8], to channel: [UInt8]) -> RedisCommand {
        RedisCommand(.text(publishingCommand), .bytes(channel), .bytes(message))
    }

    // MARK: Commands

    /// Sends a command without waiting for room; see ``RedisLink/send(_:_:)`` and ``RedisCluster/send(_:key:mayWait:_:)``.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - key: the key or channel that its node follows from, in a cluster.
    ///   - completion: called on the loop with the result, perhaps before this returns.
    func send(_ command: RedisCommand, key: [UInt8], _ completion: @escaping RedisConnection.Completion) {
        switch servers {
        case .one(let link), .watched(let link, _): link.onLoop(loop, (command, completion)) { $0.send($1.0, $1.1) }
        case .cluster(let cluster):
            cluster.onLoop(loop, (command, key, completion)) { $0.send($1.0, key: $1.1, $1.2) }
        }
    }

    /// Runs a command, waiting for room, and for a connection as the options say.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - key: as of ``send(_:key:_:)``.
    /// - Returns: the answer.
    /// - Throws: ``RedisError``, `CancellationError`.
    nonisolated func run(_ command: RedisCommand, key: [UInt8]) async throws -> RedisValue {
        switch servers {
        case .one(let link), .watched(let link, _): try await link.run(command)
        case .cluster(let cluster): try await cluster.run(command, key: key)
        }
    }

    // MARK: Subscribing

    /// Subscribes to a channel; of several subscribers on this machine the server sees one.
    ///
    /// - Parameters:
    ///   - name: the channel.
    ///   - handler: called on the loop with each event; perhaps before this returns.
    /// - Returns: what ``unsubscribe(_:)`` knows the subscriber by.
    func subscribe(to name: [UInt8], _ handler: @escaping RedisSubscriptions.Handler) -> SubscriptionID {
        subscribe(to: RedisChannel(channelKind, name), handler)
    }

    /// Whether there are subscriptions to patterns: not in a cluster, where each channel is at one node alone.
    nonisolated var supportsPatterns: Bool { channelKind == .plain }

    /// Subscribes to all channels that a pattern of Redis matches; see ``subscribe(to:_:)-([UInt8],_)``.
    ///
    /// Only where ``supportsPatterns`` says so.
    func subscribe(toPattern glob: [UInt8], _ handler: @escaping RedisSubscriptions.Handler) -> SubscriptionID {
        precondition(supportsPatterns, "There are no patterns in a cluster.")
        return subscribe(to: RedisChannel(.pattern, glob), handler)
    }

    private func subscribe(to channel: RedisChannel, _ handler: @escaping RedisSubscriptions.Handler) -> SubscriptionID
    {
        switch servers {
        case .one(let link), .watched(let link, _):
            return .ofLink(link.onLoop(loop, (channel, handler)) { $0.subscribe(to: $1.0, $1.1) })
        case .cluster(let cluster):
            return .ofCluster(cluster.onLoop(loop, (channel, handler)) { $0.subscribe(to: $1.0, $1.1) })
        }
    }

    /// Takes a subscriber out, who hears nothing more.
    func unsubscribe(_ id: SubscriptionID) {
        switch (servers, id) {
        case (.one(let link), .ofLink(let id)), (.watched(let link, _), .ofLink(let id)):
            link.onLoop(loop, id) { $0.unsubscribe($1) }
        case (.cluster(let cluster), .ofCluster(let id)): cluster.onLoop(loop, id) { $0.unsubscribe($1) }
        default: break
        }
    }
}
