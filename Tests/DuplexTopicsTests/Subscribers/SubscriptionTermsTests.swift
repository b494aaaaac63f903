// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("What subscriptions were made with")
struct SubscriptionTermsTests {
    @Test("Those that say the same are one; of closures nobody can tell")
    func shared() async throws {
        try await TestLoop.run { test in
            let core = TopicCore(TopicOptions(), clock: test.loop.clock)
            func terms(
                _ slow: SlowReaderPolicy<TopicMessage>,
                _ code: CloseCode = .tryAgainLater,
                _ missed: (@Sendable (Int) -> Message?)? = nil
            ) -> SubscriptionTerms { .plain(core, slow, code, missed) }
            let one = terms(.end())
            #expect(terms(.end()) === one)
            let others = [
                terms(.end(after: 7)), terms(.end(patience: .seconds(1))), terms(.wait),
                terms(.end(), .policyViolation),
                terms(.end(), .tryAgainLater) { _ in nil }, terms(.latest(by: \.topic)), .enveloped(core, .end()),
                .plain(TopicCore(TopicOptions(), clock: test.loop.clock), .end(), .tryAgainLater, nil),
            ]
            #expect(Set(others.map(ObjectIdentifier.init)).count == others.count)
            #expect(!others.contains { $0 === one })
        }
    }

    @Test("A client is told as its subscription says, and in JSON with the name of its topic")
    func notices() async throws {
        try await TestLoop.run { test in
            let core = TopicCore(TopicOptions(), clock: test.loop.clock)
            let start = try core.withTable { table throws(TopicError) in
                try table.join("a/+", on: test.loop, .none, at: Instant(nanoseconds: 0))
            }
            let plain = SubscriptionTerms.plain(core, .end(), .tryAgainLater) { .text("\($0)") }
            #expect(plain.notice(3, start.slot) == "3")
            let none = SubscriptionTerms.plain(core, .end(), .tryAgainLater, nil)
            #expect(none.notice(3, start.slot) == nil)
            let enveloped = SubscriptionTerms.enveloped(core, .end())
            #expect(enveloped.notice(3, start.slot) == .text(#"{"topic":"a/+","missed":3}"#))
        }
    }
}
