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
        let (former, count) = subscriber(core, name)
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
        subscriber(core, name).found?.leave()
    }

    /// The subscription to a topic or a pattern, and how many others there are.
    private func subscriber(_ core: TopicCore, _ name: String) -> (found: SocketSubscriber?, others: Int) {
        let slot = core.withTable { $0.slot(of: name) }
        var found: SocketSubscriber?
        var others = 0
        var next = firstSubscriber
        while let subscriber = next {
            if let slot, subscriber.isSubscribed(to: core, slot) { found = subscriber } else { others += 1 }
            next = subscriber.next
        }
        return (found, others)
    }
}
