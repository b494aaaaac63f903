// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

// Subscriptions: one of the connection for each channel, made anew on each connection.

extension RedisLink {
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
