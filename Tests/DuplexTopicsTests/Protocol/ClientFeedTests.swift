// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexTopics

@Suite("What waits for a task of a client", .timeLimit(minutes: 1))
struct ClientFeedTests {
    @Test("Beyond the bounds the oldest are dropped and counted; one is kept however long")
    func bounds() async throws {
        let feed = ClientFeed<Int>(mostItems: 3, mostBytes: 10)
        for number in 1...5 { feed.put(number, size: 1) }
        for (number, dropped) in [(3, 2), (4, 0), (5, 0)] {
            let item = try #require(try await feed.next())
            #expect(item == (number, dropped))
        }
        for number in 6...7 { feed.put(number, size: 100) }
        let item = try #require(try await feed.next())
        #expect(item == (7, 1))
    }

    @Test("It ends behind what waits, by the first end")
    func ends() async throws {
        let feed = ClientFeed<Int>(mostItems: 3, mostBytes: 10)
        feed.put(1, size: 1)
        feed.finish(TopicError(.closed, "Over."))
        feed.finish()
        feed.put(2, size: 1)
        #expect(try await feed.next()?.element == 1)
        await #expect(throws: TopicError(.closed, "Over.")) { _ = try await feed.next() }
    }

    @Test("A task that is cancelled goes on at once")
    func cancels() async throws {
        let feed = ClientFeed<Int>(mostItems: 3, mostBytes: 10)
        let task = Task { try await feed.next()?.element }
        task.cancel()
        #expect(try await task.value == nil)
    }
}

@Suite("What a client fills for as long as somebody holds it", .timeLimit(minutes: 1))
struct ClientLeaseTests {
    @Test("It begins when it is made, and ends when it is dropped")
    func ends() async throws {
        // Nothing is there: the client would connect when it is first asked for something.
        let client = TopicClient("ws://127.0.0.1:1/topics")
        let (steps, continuation) = AsyncStream<String>.makeStream()
        var lease: ClientLease<Int>? = ClientLease(client, ClientFeed(mostItems: 1, mostBytes: 1)) { _, feed in
            feed.put(7, size: 1)
            continuation.yield("begin")
        } end: { _, _ in
            continuation.yield("end")
        }
        var iterator = steps.makeAsyncIterator()
        #expect(await iterator.next() == "begin")
        let next = try await lease?.feed.next()
        #expect(next?.0 == 7)
        lease = nil
        #expect(await iterator.next() == "end")
    }
}
