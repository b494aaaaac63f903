// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexTopics

@Suite("What topics share")
struct TopicCoreTests {
    @Test("Each has histories of its own: a position of one is none of another")
    func epochs() async throws {
        try await TestLoop.run { test in
            var options = TopicOptions()
            try options.keep("#")
            let positions = try (0..<2).map { _ in
                try TopicCore(options, clock: test.loop.clock).publish("a", .message("1")).position
            }
            #expect(positions.map { $0?.offset } == [1, 1])
            #expect(positions[0] != positions[1])
        }
    }
}
