// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite struct TopicCopyTests {
    @Test("What comes early waits in order; beyond the bound all of it is dropped but the newest")
    func early() {
        var copy = TopicCopy()
        func add(_ number: UInt64, _ bytes: Int) {
            let text = Message.text(String(repeating: "x", count: bytes))
            copy.append(BackplaneMessage(topic: "a", message: text, origin: "o", number: number), 1_000)
        }
        for number in 1...3 as ClosedRange<UInt64> { add(number, 10) }
        let first = copy.takeEarly().map(\.number)
        #expect(first == [1, 2, 3])
        for number in 4...5 as ClosedRange<UInt64> { add(number, 300) }
        let second = copy.takeEarly().map(\.number)
        #expect(second == [5] && copy.early.isEmpty && copy.earlySize == 0)
    }

    @Test("Subscriptions wait until the history has come, or is given up")
    func settled() {
        var copy = TopicCopy()
        #expect(!copy.isSettled)
        copy.isGivenUp = true
        #expect(copy.isSettled)
    }

    @Test("Wishes are taken by one at a time, in order, until there are none")
    func wishes() {
        var wishes = TopicWishes()
        let none = wishes.begin()
        wishes.append(.subscribe("a"))
        wishes.append(.unsubscribe("a"))
        let first = wishes.begin()
        wishes.append(.subscribe("b"))
        let other = wishes.begin()
        let more = wishes.more()
        let end = wishes.more()
        #expect(none == nil && other == nil && end == nil)
        #expect(first == [.subscribe("a"), .unsubscribe("a")] && more == [.subscribe("b")])
        wishes.append(.subscribe("c"))
        let again = wishes.begin()
        #expect(again == [.subscribe("c")])
    }
}
