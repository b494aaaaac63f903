// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite struct TopicOutboxTests {
    @Test("Each topic has numbers of its own, and a series that is forgotten isn't gone on with")
    func numbers() {
        var numbers = PublicationNumbers(node: "n", limit: 2)
        let given = ["a", "a", "b", "a", "c", "a"].map { topic -> String in
            let (origin, number) = numbers.next(of: topic)
            return "\(origin)-\(number)"
        }
        #expect(given == ["n.1-1", "n.1-2", "n.2-1", "n.1-3", "n.3-1", "n.4-1"])
    }

    @Test("One at a time hands on what waits, in order, and the next one begins when that has ended")
    func order() throws {
        var outbox = TopicOutbox(PublicationNumbers(node: "n", limit: 9))
        for text in ["1", "2"] { try outbox.append(.text(text), to: "a", TopicOptions.History()) { _ in } }
        let begins = [outbox.begin(), outbox.begin()]
        let first = outbox.next()
        try outbox.append(.text("3"), to: "b", nil) { _ in }
        let rest = [outbox.next(), outbox.next(), outbox.next()]
        #expect(begins == [true, false] && first?.message.number == 1)
        #expect(rest.map { $0?.message.message } == [.text("2"), .text("3"), nil])
        #expect(rest.map { $0?.message.origin } == ["n.1", "n", nil])
        let again = outbox.begin()
        #expect(again)
    }

    @Test("Beyond the bound a publisher is told")
    func bound() {
        var outbox = TopicOutbox(PublicationNumbers(node: "n", limit: 9))
        var taken = 0
        #expect(throws: TopicError.self) {
            while true {
                try outbox.append(.text("x"), to: "a", nil) { _ in }
                taken += 1
            }
        }
        #expect(taken == 65_536)
    }
}
