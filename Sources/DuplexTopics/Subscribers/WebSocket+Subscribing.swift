// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets

extension WebSocket {
    /// Subscribes.
    ///
    /// - Parameters:
    ///   - name: the name of the topic, or the pattern.
    ///   - replay: what is sent of the past.
    ///   - terms: what else was said.
    ///   - opening: sends what is to go before anything that is published.
    /// - Returns: the subscription.
    /// - Throws: ``TopicError`` with `invalidName`, with `limitReached`, or with `closed` when the connection has ended.
    func subscribe(
        to name: String,
        _ replay: TopicReplay,
        _ terms: SubscriptionTerms,
        opening: @escaping SocketSubscriber.Opening = { _, _ in }
    ) throws(TopicError) -> SocketSubscriber {
        guard state != .closed else { throw TopicError(.closed, "The connection has ended.") }
        let core = terms.core
        let former = subscriber(core, name)
        let count = (firstSubscriber?.all.count ?? 0) - (former == nil ? 0 : 1)
        guard count < core.options.mostSubscriptionsOfConnection else {
            throw TopicError(.limitReached, "The connection has \(count) subscriptions, which is the limit.")
        }
        let start = try core.join(name, on: loop, replay)
        former?.leave()
        let subscriber = SocketSubscriber(self, terms)
        subscriber.begin(start, replay, opening)
        return subscriber
    }

    /// Ends the subscription to a topic or a pattern.
    func unsubscribe(_ core: TopicCore, _ name: String) {
        subscriber(core, name)?.leave()
    }

    private func subscriber(_ core: TopicCore, _ name: String) -> SocketSubscriber? {
        guard let first = firstSubscriber else { return nil }
        guard let slot = core.withTable({ $0.slot(of: name) }) else { return nil }
        return first.all.first { $0.isSubscribed(to: core, slot) }
    }
}
