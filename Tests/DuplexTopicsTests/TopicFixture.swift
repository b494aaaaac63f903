// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTesting
import DuplexTopics
import DuplexWebSockets
import DuplexWire

/// Subscribed WebSockets on a loop whose time the test moves, and what their clients get.
struct TopicFixture {
    let topics: Topics
    let test: TestLoop

    static func run(
        _ change: (inout TopicOptions) throws -> Void = { _ in },
        _ body: (TopicFixture) async throws -> Void
    ) async throws {
        var options = TopicOptions()
        try change(&options)
        try await TestLoop.run { test in
            let topics = Topics(options: options, clock: test.loop.clock, on: test.group)
            try await body(TopicFixture(topics: topics, test: test))
        }
    }

    /// A connection whose network holds little, so that a client that doesn't receive is behind soon.
    func pair() async -> WebSocketPair {
        await WebSocketPair(on: test.group, capacity: .kibibytes(4))
    }

    /// What has come to a client, up to a text.
    static func texts(_ client: WebSocket, upTo last: String) async throws -> [String] {
        var texts: [String] = []
        while texts.last != last { texts.append(try await client.receive().description) }
        return texts
    }

    /// 1 KiB behind a number.
    static func long(_ number: Int) -> String { "\(number) " + String(repeating: "x", count: 1_024) }

    /// The numbers of such texts.
    static func numbers(_ texts: [String]) -> [Int] { texts.map { Int($0.prefix { $0 != " " }) ?? -1 } }
}
