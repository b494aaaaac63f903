// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// The Redis that machines share, however its servers are arranged: commands and subscriptions over links that come back.
///
/// Lives on one loop. Only ``start()``, ``run(_:key:)`` and ``close()`` wait; callbacks are on the loop.
protocol RedisClient: Actor {
    nonisolated var loop: EventLoop { get }

    /// Where the client stands, and then every change; of a cluster, whether its slots are known.
    nonisolated var states: AsyncStream<RedisLinkState> { get }

    /// How messages are published and subscribed to: in a cluster, at the node of the channel alone.
    nonisolated var channelKind: RedisChannel.Kind { get }

    /// Begins to connect.
    func start() async

    /// Ends it all.
    func close() async

    /// Sends a command without waiting for room.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - key: the key or channel that its node follows from, in a cluster.
    ///   - completion: called on the loop with the result, perhaps before this returns.
    func send(_ command: RedisCommand, key: [UInt8], _ completion: @escaping RedisConnection.Completion)

    /// Runs a command, waiting for room, and for a connection as the options say.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - key: as of ``send(_:key:_:)``.
    /// - Returns: the answer.
    /// - Throws: ``RedisError``, `CancellationError`.
    func run(_ command: RedisCommand, key: [UInt8]) async throws -> RedisValue

    /// Subscribes to a channel; of several subscribers on this machine the server sees one.
    ///
    /// - Parameters:
    ///   - channel: the channel.
    ///   - handler: called on the loop with each event; perhaps before this returns.
    /// - Returns: what ``unsubscribe(_:)`` knows the subscriber by.
    func subscribe(to channel: RedisChannel, _ handler: @escaping RedisSubscriptions.Handler) -> RedisSubscriptionID

    /// Takes a subscriber out, who hears nothing more.
    func unsubscribe(_ id: RedisSubscriptionID)
}

extension RedisClient {
    /// The name of the command that publishes a message.
    nonisolated var publishingCommand: String { channelKind == .plain ? "PUBLISH" : "SPUBLISH" }

    /// The command that publishes a message.
    nonisolated func publication(_ message: [UInt8], to channel: [UInt8]) -> RedisCommand {
        RedisCommand(.text(publishingCommand), .bytes(channel), .bytes(message))
    }

    /// Whether there are subscriptions to patterns: not in a cluster, where each channel is at one node alone.
    nonisolated var supportsPatterns: Bool { channelKind == .plain }

    /// Runs a script, which is sent whole to a server that doesn't know it; called on the loop.
    ///
    /// - Parameters:
    ///   - script: the script.
    ///   - keys: its keys, all of one slot.
    ///   - arguments: what else it is given.
    ///   - completion: called on the loop with the result, perhaps before this returns.
    nonisolated func run(
        _ script: RedisScript,
        _ keys: [[UInt8]],
        _ arguments: [RedisCommand.Word],
        _ completion: @escaping RedisConnection.Completion
    ) {
        let whole: RedisConnection.Completion = { [self] result in
            guard case .failure(let error) = result, error.kind == .noScript else { return completion(result) }
            let command = script.command(keys, arguments, isWhole: true)
            onLoop(loop, (command, keys[0], completion)) { $0.send($1.0, key: $1.1, $1.2) }
        }
        onLoop(loop, (script.command(keys, arguments), keys[0], whole)) { $0.send($1.0, key: $1.1, $1.2) }
    }
}

extension RedisDeployment {
    /// Makes a client; see ``RedisClient/start()``.
    ///
    /// - Parameters:
    ///   - options: deadlines, bounds, waits.
    ///   - loop: the loop of the client.
    /// - Returns: the client.
    /// - Throws: ``TopicError`` with ``TopicError/Code/invalidURL`` for a deployment that leads nowhere.
    func makeClient(_ options: RedisOptions, on loop: EventLoop) throws(TopicError) -> any RedisClient {
        try TopicError.check(options.durations)
        try check()
        return switch self {
        case .one(let url): RedisLink(to: url, options: options, loop: loop)
        case .sentinel(let master, let urls):
            RedisSentinels(of: master, at: urls, options: options, loop: loop).makeLink(options: options)
        case .cluster(let nodes): RedisCluster(nodes, options: options, loop: loop)
        }
    }
}

/// Where a link to Redis stands.
enum RedisLinkState: Sendable, CustomStringConvertible {
    /// It hasn't begun.
    case idle
    /// An attempt is under way: the first since the last connection, or a later one.
    case connecting(attempt: Int)
    /// There is a connection to this server.
    case connected(RedisURL)
    /// The last attempt or connection has ended so, and the next attempt begins at that time of the loop's clock.
    case waiting(RedisError, until: Instant)
    /// It was closed on this side.
    case closed

    /// Whether commands are sent at once.
    var isConnected: Bool { if case .connected = self { true } else { false } }

    var description: String {
        switch self {
        case .idle: "idle"
        case .connecting(let attempt): "connecting, attempt \(attempt)"
        case .connected(let url): "connected to \(url)"
        case .waiting(let error, _): "waiting: \(error)"
        case .closed: "closed"
        }
    }
}
