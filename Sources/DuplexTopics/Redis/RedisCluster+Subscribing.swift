// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

// Subscriptions to sharded channels, each at the node that has the slot of its channel, wherever that goes.

extension RedisCluster {
    /// Subscribes to a channel at the node that has its slot.
    ///
    /// - Parameters:
    ///   - channel: the channel.
    ///   - handler: called on the loop with each event; perhaps before this returns.
    /// - Returns: what ``unsubscribe(_:)`` knows the subscriber by.
    func subscribe(to channel: RedisChannel, _ handler: @escaping RedisSubscriptions.Handler) -> RedisSubscriptionID {
        lastSubscription += 1
        let number = lastSubscription
        subscriptions[number] = Subscription(channel: channel, handler: handler)
        settle(number)
        return RedisSubscriptionID(channel: channel, number: number)
    }

    /// Takes a subscriber out, who hears nothing more.
    func unsubscribe(_ id: RedisSubscriptionID) {
        guard let subscription = subscriptions.removeValue(forKey: id.number) else { return }
        leave(subscription)
    }

    private func leave(_ subscription: Subscription) {
        guard !isClosed, let node = subscription.node, let id = subscription.id else { return }
        link(to: node).onLoop(loop, id) { $0.unsubscribe($1) }
    }

    /// Asks the node that has the slot now, if it is another one than was asked before.
    private func settle(_ number: UInt64) {
        guard !isClosed, let subscription = subscriptions[number] else { return }
        let owner = topology.owner(of: RedisSlot.of(subscription.channel.name))
        guard owner != subscription.node || owner == nil else { return }
        subscriptions[number]?.node = owner
        subscriptions[number]?.id = nil
        subscriptions[number]?.isActive = false
        if owner != subscription.node { leave(subscription) }
        if subscription.isActive { subscription.handler(.interrupted) }
        guard let owner else { return refresh() }
        let handler: RedisSubscriptions.Handler = { [weak self] event in
            guard let self else { return }
            onLoop(loop, (number, owner, event)) { $0.take($1.2, of: $1.0, from: $1.1) }
        }
        let id = link(to: owner).onLoop(loop, (subscription.channel, handler)) { $0.subscribe(to: $1.0, $1.1) }
        // The handler may have been notified that it is elsewhere already.
        if subscriptions[number]?.node == owner { subscriptions[number]?.id = id }
    }

    /// The slots are known anew.
    func moveSubscriptions() {
        for number in subscriptions.keys.sorted() { settle(number) }
    }

    private func take(_ event: RedisSubscriptionEvent, of number: UInt64, from node: RedisNode) {
        guard let subscription = subscriptions[number], subscription.node == node else { return }
        switch event {
        case .active: subscriptions[number]?.isActive = true
        case .message, .matched: break
        case .interrupted:
            if !subscription.isActive { return }
            subscriptions[number]?.isActive = false
        case .refused(let error):
            if let redirection = error.reply?.redirection {
                moved(redirection.slot, to: RedisNode(host: redirection.host ?? node.host, port: redirection.port))
                return settle(number)
            }
            if error.kind == .clusterDown {
                // Nobody is known until the slots are asked for again.
                subscriptions[number]?.node = nil
                leave(subscription)
                return refresh()
            }
        }
        subscription.handler(event)
    }
}
