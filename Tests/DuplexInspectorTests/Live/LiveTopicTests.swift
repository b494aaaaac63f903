// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Synchronization
import Testing

@testable import DuplexInspector

@Suite struct LiveTopicTests {
    @Test("A state is news once, and again when it has changed")
    func state() async throws {
        let value = Mutex(1)
        let topic = LiveState { value.withLock { $0 } }
        let first = try #require(try await topic.news(since: 0, upTo: 10))
        #expect(first.items == [1] && first.lost == 0 && !first.hasMore)
        #expect(try await topic.news(since: first.position, upTo: 10) == nil)
        value.withLock { $0 = 2 }
        let second = try #require(try await topic.news(since: first.position, upTo: 10))
        #expect(second.items == [2] && second.position != first.position)
    }
}
