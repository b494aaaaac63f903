// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("The history of a topic")
struct TopicHistoryTests {
    private static let begin = Instant(nanoseconds: 1_000_000_000_000)

    private static func history(_ count: Int, _ options: TopicOptions.History) -> TopicHistory {
        var history = TopicHistory("e", options)
        for number in 0..<count {
            let position = TopicPosition(epoch: "e", offset: UInt64(number + 1))
            let entry = TopicEntry("a", position, .message(.text("\(number + 1)")))
            history.append(entry, at: begin.advanced(by: .seconds(number)))
        }
        return history
    }

    @Test("It keeps as many as it may, for as long as it may")
    func bounds() {
        #expect(Self.history(10, .init(count: 3)).entries(behind: 7)?.map(\.number) == [8, 9, 10])
        #expect(Self.history(10, .init(count: 3)).entries(behind: 6) == nil)
        var history = Self.history(10, .init(time: .seconds(4)))
        #expect(history.firstNumber == 6)
        history.expire(at: Self.begin.advanced(by: .seconds(20)))
        #expect(history.isEmpty && history.size == 0 && history.lastNumber == 10)
        #expect(history.entries(behind: 10)?.isEmpty == true)
    }

    @Test("It makes room by its oldest ones")
    func shrinks() {
        var history = Self.history(10, .init())
        history.shrink(to: 5 * 161 + 1)
        #expect(history.firstNumber == 6 && history.lastNumber == 10)
    }

    @Test("A subscriber begins where it asks to, or with all that is kept")
    func places() {
        let history = Self.history(10, .init(count: 4))
        func place(_ replay: TopicReplay) -> [UInt64] {
            let (number, isComplete) = history.place(replay)
            return [number, isComplete ? 1 : 0]
        }
        #expect(place(.none) == [10, 1])
        #expect(place(.last(2)) == [8, 1] && place(.last(9)) == [6, 1] && place(.last(-1)) == [10, 1])
        #expect(place(.after(TopicPosition(epoch: "e", offset: 6))) == [6, 1])
        #expect(place(.after(TopicPosition(epoch: "e", offset: 5))) == [6, 0])
        #expect(place(.after(TopicPosition(epoch: "e", offset: 11))) == [6, 0])
        #expect(place(.after(TopicPosition(epoch: "e", offset: .max))) == [6, 0])
        #expect(place(.after(TopicPosition(epoch: "f", offset: 8))) == [6, 0])
    }
}

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
