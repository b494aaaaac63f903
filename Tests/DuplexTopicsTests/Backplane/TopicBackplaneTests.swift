// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexTopics
import DuplexWire
import Testing

@Suite(.timeLimit(minutes: 1)) struct TopicBackplaneTests {
    @Test("Topics that are made with one memory share their messages")
    func memory() async throws {
        let memory = TopicBackplane.memory()
        let (one, two) = (try Topics(memory), try Topics(memory))
        var messages = two["a"].makeAsyncIterator()
        try await one["a"].publish(confirming: .text("1"))
        let message = await messages.next()
        #expect(message?.text == "1")
        await one.close()
        await two.close()
    }

    @Test("Topics throw what is wrong with a backplane")
    func refusals() {
        let wrong: [TopicBackplane] = [
            .redis("http://localhost"), .redis(cluster: []), .redis(cluster: ["redis://localhost/1"]),
            .redis(master: "redis://main/0", sentinels: []), .redis(master: "main", sentinels: ["redis://localhost"]),
        ]
        for backplane in wrong {
            let error = #expect(throws: TopicError.self) { try Topics(backplane) }
            #expect(error?.code == .invalidURL)
        }
        let failing = TopicBackplane.custom { () throws(TopicError) in throw TopicError(.unsupported, "Not here.") }
        #expect(throws: TopicError.self) { try Topics(failing) }
    }
}
