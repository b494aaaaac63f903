// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// The events of a subscriber of a channel, on the loop, in their order.
enum RedisSubscriptionEvent: Sendable {
    /// The server has confirmed the subscription: at first, and each time behind ``interrupted``. From here on messages come.
    case active
    /// A message.
    case message([UInt8])
    /// A message by a pattern, and the channel that it was published to.
    case matched([UInt8], channel: [UInt8])
    /// The server has forgotten the subscription, mostly since the connection was lost; messages may be missed.
    case interrupted
    /// The server has refused. It is asked again on the next connection.
    case refused(RedisError)
}

/// A channel of Redis.
struct RedisChannel: Sendable, Hashable {
    /// Which of Redis' ways of publishing.
    enum Kind: Sendable, Hashable {
        /// PUBLISH and SUBSCRIBE: every node of a cluster has each message.
        case plain
        /// SPUBLISH and SSUBSCRIBE: the node that has the slot of the channel.
        case sharded
        /// PUBLISH and PSUBSCRIBE: all channels that a pattern matches; its name is the pattern.
        case pattern

        var subscribe: String {
            switch self {
            case .plain: "SUBSCRIBE"
            case .sharded: "SSUBSCRIBE"
            case .pattern: "PSUBSCRIBE"
            }
        }

        var unsubscribe: String {
            switch self {
            case .plain: "UNSUBSCRIBE"
            case .sharded: "SUNSUBSCRIBE"
            case .pattern: "PUNSUBSCRIBE"
            }
        }
    }

    let kind: Kind
    let name: [UInt8]

    init(_ kind: Kind, _ name: [UInt8]) {
        self.kind = kind
        self.name = name
    }

    init(_ kind: Kind, _ name: String) {
        self.init(kind, Array(name.utf8))
    }
}

/// Names one local subscriber.
struct RedisSubscriptionID: Sendable, Hashable {
    /// What it has subscribed to.
    let channel: RedisChannel
    let number: UInt64
}

/// Who on this machine has subscribed to which channels.
///
/// There is one subscription of the connection for each channel, however many local subscribers there are. Knows no
/// connection; says what is to be sent.
struct RedisSubscriptions {
    typealias Handler = @Sendable (RedisSubscriptionEvent) -> Void

    private struct Subscription {
        /// In the order of their coming.
        var handlers: [(number: UInt64, handler: Handler)] = []
        /// Tells this subscription from an earlier one to the same channel, whose confirmation may still come.
        var generation: UInt64
        var isActive = false
    }

    private var all: [RedisChannel: Subscription] = [:]
    private var lastNumber: UInt64 = 0

    /// The channels that somebody has subscribed to, with their generations.
    var channels: [(channel: RedisChannel, generation: UInt64)] { all.map { ($0.key, $0.value.generation) } }

    /// How many channels somebody has subscribed to.
    var count: Int { all.count }

    /// What is to be done for a subscriber who has come.
    enum Next: Hashable {
        /// The server is to be asked, in this generation.
        case ask(UInt64)
        /// The server has confirmed already; the subscriber is to be notified.
        case active
        /// The server is being asked.
        case wait
    }

    /// Adds a subscriber.
    ///
    /// - Parameters:
    ///   - channel: the channel.
    ///   - handler: called with each event.
    /// - Returns: the subscriber's name, and what is to be done.
    mutating func add(
        _ channel: RedisChannel,
        _ handler: @escaping Handler
    ) -> (id: RedisSubscriptionID, next: Next) {
        lastNumber += 1
        let id = RedisSubscriptionID(channel: channel, number: lastNumber)
        guard var subscription = all.removeValue(forKey: channel) else {
            all[channel] = Subscription(handlers: [(lastNumber, handler)], generation: lastNumber)
            return (id, .ask(lastNumber))
        }
        subscription.handlers.append((lastNumber, handler))
        let isActive = subscription.isActive
        all[channel] = subscription
        return (id, isActive ? .active : .wait)
    }

    /// Takes a subscriber out, who hears nothing more.
    ///
    /// - Parameter id: the subscriber; one that has gone is ignored.
    /// - Returns: whether nobody is left, so that the server is to be asked to unsubscribe.
    mutating func remove(_ id: RedisSubscriptionID) -> Bool {
        guard var subscription = all[id.channel],
            let index = subscription.handlers.firstIndex(where: { $0.number == id.number })
        else { return false }
        subscription.handlers.remove(at: index)
        all[id.channel] = subscription.handlers.isEmpty ? nil : subscription
        return subscription.handlers.isEmpty
    }

    /// Whether a subscription is the present one of its channel.
    func isCurrent(_ channel: RedisChannel, _ generation: UInt64) -> Bool {
        all[channel]?.generation == generation
    }

    /// Who gets the server's reply to a subscription.
    mutating func answered(_ channel: RedisChannel, _ generation: UInt64, isActive: Bool) -> [Handler] {
        guard isCurrent(channel, generation) else { return [] }
        all[channel]?.isActive = isActive
        return handlers(of: channel)
    }

    /// Who gets a message.
    func handlers(of channel: RedisChannel) -> [Handler] {
        all[channel]?.handlers.map(\.handler) ?? []
    }

    /// The server has forgotten a channel by itself.
    ///
    /// - Parameter channel: the channel.
    /// - Returns: who is notified, and the generation to subscribe with again; `nil` when nobody was subscribed.
    mutating func dropped(_ channel: RedisChannel) -> (handlers: [Handler], generation: UInt64)? {
        guard let subscription = all[channel], subscription.isActive else { return nil }
        all[channel]?.isActive = false
        return (subscription.handlers.map(\.handler), subscription.generation)
    }

    /// The connection is lost.
    ///
    /// - Returns: who is notified.
    mutating func interrupted() -> [Handler] {
        var told: [Handler] = []
        for (channel, subscription) in all where subscription.isActive {
            told += subscription.handlers.map(\.handler)
            all[channel]?.isActive = false
        }
        return told
    }
}
