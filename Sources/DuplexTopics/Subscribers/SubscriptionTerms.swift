// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
