// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire

/// What a subscription was made with; subscriptions that are made alike share it.
final class SubscriptionTerms: Sendable {
    let core: TopicCore
    let slow: SlowReaderPolicy<TopicMessage>
    let closeCode: CloseCode
    /// Whether messages go in JSON, with their topics; so does the one with the number of dropped ones.
    let isEnveloped: Bool
    private let missed: (@Sendable (Int) -> Message?)?

    private init(
        _ core: TopicCore,
        _ slow: SlowReaderPolicy<TopicMessage>,
        _ closeCode: CloseCode,
        _ missed: (@Sendable (Int) -> Message?)?,
        isEnveloped: Bool
    ) {
        self.core = core
        self.slow = slow
        self.closeCode = closeCode
        self.missed = missed
        self.isEnveloped = isEnveloped
    }

    /// Those of a subscription whose messages go as they are.
    static func plain(
        _ core: TopicCore,
        _ slow: SlowReaderPolicy<TopicMessage>,
        _ closeCode: CloseCode,
        _ missed: (@Sendable (Int) -> Message?)?
    ) -> SubscriptionTerms {
        let made = SubscriptionTerms(core, slow, closeCode, missed, isEnveloped: false)
        return missed == nil && !slow.hasKeys ? core.terms.find(made) { $0.isSame(as: $1) } : made
    }

    /// Those of the JSON protocol.
    static func enveloped(_ core: TopicCore, _ slow: SlowReaderPolicy<TopicMessage>) -> SubscriptionTerms {
        SubscriptionTerms(core, slow, .tryAgainLater, nil, isEnveloped: true)
    }

    private func isSame(as other: SubscriptionTerms) -> Bool {
        closeCode == other.closeCode && isEnveloped == other.isEnveloped && slow.isSame(as: other.slow)
    }

    /// Makes the message with the number of dropped messages of a topic or pattern; `nil` for none.
    func notice(_ count: Int, _ slot: Int32) -> Message? {
        guard isEnveloped else { return missed?(count) }
        return core.withTable { $0.name(of: slot) }.map { .text(TopicEnvelope.missed($0, count)) }
    }
}

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
        guard count < core.options.subscriptionsPerConnectionLimit else {
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
