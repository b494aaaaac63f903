// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
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

@Suite("The connection of a viewer", .timeLimit(minutes: 1))
struct LiveViewerTests {
    @Test("A viewer gets what it watches until it wants no more of it")
    func watching() async throws {
        try await InspectorFixture.run { fixture async throws in
            let page = try await fixture.live()
            try await page.watch("connections", as: 7)
            let news = try await page.next()
            #expect(news.watch == 7 && news.error == nil && news.items?.count == 1)
            try await page.socket.send(#"{"unwatch":7}"#)
            try await page.watch("nothing", as: 8)
            // What was on its way still comes.
            let refusal = try await page.news { $0.watch == 8 }
            #expect(refusal.error == "There is no such topic.")
        }
    }

    @Test("Who watches too much at a time is refused that, and keeps the rest")
    func bound() async throws {
        try await InspectorFixture.run { fixture async throws in
            let page = try await fixture.live()
            for number in 1...LiveViewer.topicLimit { try await page.watch("requests", as: number) }
            try await page.watch("requests", as: 100)
            let refusal = try await page.news { $0.watch == 100 }
            #expect(refusal.error?.contains("Too much") == true)
            // A number that is used again takes the place of its own.
            try await page.watch("connections", as: 1)
            #expect(try await page.news { $0.watch == 1 }.error == nil)
        }
    }

    @Test("What is no wish ends the connection with 1003", arguments: ["", "[]", "{\"watch\":\"x\"}", "nonsense"])
    func nonsense(text: String) async throws {
        try await InspectorFixture.run { fixture async throws in
            let page = try await fixture.live()
            try await page.socket.send(text)
            await #expect(throws: (any Error).self) { while true { _ = try await page.next() } }
            #expect(await page.socket.closeReport.code == .unsupportedData)
        }
    }
}
