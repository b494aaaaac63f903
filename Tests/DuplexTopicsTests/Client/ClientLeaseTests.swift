// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexTopics

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
