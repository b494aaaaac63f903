// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexTopics
import DuplexWire
import Testing

@Suite("What topics keep, and how much")
struct TopicOptionsTests {
    private static func topics(_ change: (inout TopicOptions) throws -> Void) rethrows -> Topics {
        var options = TopicOptions()
        try change(&options)
        return Topics(options: options)
    }

    private static func kept(_ topic: Topic, _ count: Int) async throws -> [String] {
        var texts: [String] = []
        var iterator = topic.messages(replay: .last(100)).makeAsyncIterator()
        while texts.count < count, let message = try await iterator.next() { texts.append(message.text) }
        return texts
    }

    @Test("Without a rule nothing is kept")
    func nothing() {
        let topics = Topics()
        #expect(topics["a"].publish("1") == .published(to: 0, nil))
        #expect(topics.count == 0)
        #expect(topics["a"].position == nil)
    }

    @Test("Of several rules the first that matches holds")
    func rules() async throws {
        let topics = try Self.topics { options in
            try options.keep("room/+", .init(count: 2))
            try options.keep("#", .init(count: 3))
        }
        for name in ["room/1", "other"] { for number in 1...5 { topics[name].publish("\(number)") } }
        #expect(try await Self.kept(topics["room/1"], 2) == ["4", "5"])
        #expect(try await Self.kept(topics["other"], 3) == ["3", "4", "5"])
        #expect(topics["other"].position?.offset == 5)
    }

    @Test("A rule must be a pattern or a name")
    func invalid() {
        var options = TopicOptions()
        #expect(throws: TopicError.self) { try options.keep("a//b") }
        #expect(options.histories.isEmpty)
    }

    @Test("The bytes of all histories are bounded; a topic makes room by its own")
    func size() async throws {
        let topics = try Self.topics { options in
            try options.keep("#")
            options.historySize = 4_096
        }
        let text = String(repeating: "x", count: 840)
        for number in 1...3 { topics["a"].publish("\(number)\(text)") }
        #expect(try await Self.kept(topics["a"], 3).count == 3)
        for number in 1...5 { topics["b"].publish("\(number)\(text)") }
        #expect(try await Self.kept(topics["b"], 1).map { $0.prefix(1) } == ["5"])
        #expect(try await Self.kept(topics["a"], 3).count == 3)
    }

    @Test("The number of histories is bounded: further topics are delivered and not kept")
    func count() throws {
        let topics = try Self.topics { options in
            try options.keep("#")
            options.historyLimit = 2
        }
        for name in ["a", "b", "c"] { topics[name].publish("1") }
        #expect(topics.count == 2)
        #expect(topics["b"].position != nil && topics["c"].position == nil)
    }

    @Test("What is too old isn't given any more, and goes by itself")
    func time() async throws {
        try await TestLoop.run { test in
            var options = TopicOptions()
            try options.keep("#", .init(time: .seconds(10)))
            let topics = Topics(options: options, clock: test.loop.clock)
            topics["a"].publish("1")
            topics["b"].publish("1")
            await test.advance(by: .seconds(6))
            topics["a"].publish("2")
            await test.advance(by: .seconds(6))
            #expect(try await Self.kept(topics["a"], 1) == ["2"])
            for _ in 0..<3 { topics["c"].publish("1") }
            #expect(topics.count == 2, "Nobody asked for b, whose history has become empty.")
        }
    }
}
