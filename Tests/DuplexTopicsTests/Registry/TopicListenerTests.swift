// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Subscriptions of code", .timeLimit(minutes: 1))
struct TopicListenerTests {
    private static func publish(_ text: String, _ listener: TopicListener) {
        if listener.put(TopicEntry("a", nil, .message(.text(text)))) { listener.take() }
    }

    private static func listener(
        _ policy: SlowReaderPolicy<TopicMessage>,
        _ count: Int
    ) -> TopicListener {
        let listener = TopicListener(policy)
        for number in 1...count { publish("\(number)", listener) }
        return listener
    }

    @Test("Each message says how many were dropped before it")
    func missed() async throws {
        let listener = Self.listener(.dropOldest(keeping: 2), 5)
        var messages: [TopicMessage?] = [try await listener.next(), try await listener.next()]
        #expect(messages.map { $0?.text } == ["4", "5"] && messages.map { $0?.missed } == [3, 0])
        Self.publish("6", listener)
        messages = [try await listener.next()]
        #expect(messages.map { $0?.missed } == [0])
    }

    @Test("Of the newest that were dropped the one behind them tells")
    func missedNewest() async throws {
        let listener = Self.listener(.dropNewest(keeping: 2), 5)
        var messages: [TopicMessage?] = [try await listener.next(), try await listener.next()]
        Self.publish("6", listener)
        messages.append(try await listener.next())
        #expect(messages.map { $0?.text } == ["1", "2", "6"] && messages.map { $0?.missed } == [0, 0, 3])
    }

    @Test("One that is too slow gets what waits, and then the error")
    func ends() async throws {
        let listener = Self.listener(.end(after: 400), 5)
        #expect(try await listener.next()?.text == "1")
        #expect(try await listener.next()?.text == "2")
        await #expect(throws: TopicError.self) { try await listener.next() }
    }

    @Test("A message that comes while somebody waits is handed over; the end, too")
    func waits() async throws {
        let listener = TopicListener(.end())
        async let message = listener.next()
        Self.publish("1", listener)
        #expect(try await message?.text == "1")
        async let end = listener.next()
        listener.finish()
        #expect(try await end == nil)
        Self.publish("2", listener)
        #expect(try await listener.next() == nil)
    }

    @Test("Cancelling ends it")
    func cancels() async throws {
        let listener = TopicListener(.end())
        let task = Task { try await listener.next() }
        task.cancel()
        #expect(try await task.value == nil)
    }
}
