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
