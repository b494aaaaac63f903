// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexTopics
import DuplexWire
import Testing

@Suite("Messages of topics for code", .timeLimit(minutes: 1))
struct TopicMessagesTests {
    @Test("An iterator gets what is published from its making on, and leaves when it is dropped")
    func lasts() async throws {
        let topics = Topics()
        do {
            var iterator = topics["a/#"].messages().makeAsyncIterator()
            #expect(topics["a/b"].publish("1") == .published(to: 1, nil))
            #expect(try await iterator.next() == TopicMessage(topic: "a/b", message: "1"))
        }
        #expect(topics.count == 0 && topics.subscriptionCount == 0)
    }

    @Test("What it begins with and what comes is one sequence, without a gap or a double")
    func replays() async throws {
        var options = TopicOptions()
        try options.keep("#")
        let topic = Topics(options: options)["a"]
        for number in 1...5 { topic.publish("\(number)") }
        var iterator = topic.messages(replay: .last(2)).makeAsyncIterator()
        for number in 6...7 { topic.publish("\(number)") }
        var offsets: [UInt64?] = []
        for _ in 0..<4 { offsets.append(try await iterator.next()?.position?.offset) }
        #expect(offsets == [4, 5, 6, 7])
    }

    @Test("An iterator tells whether anything that it asked for is missing")
    func complete() throws {
        var options = TopicOptions()
        try options.keep("#", .init(count: 2))
        let topic = Topics(options: options)["a"]
        for number in 1...4 { topic.publish("\(number)") }
        let epoch = try #require(topic.position?.epoch)
        let complete = [0, 1, 2, 4, 5].map { offset in
            topic.messages(replay: .after(TopicPosition(epoch: epoch, offset: offset))).makeAsyncIterator().isComplete
        }
        #expect(complete == [false, false, true, true, false])
        #expect(Topics()["a//b"].messages().makeAsyncIterator().isComplete == false)
    }

    @Test("It is there for a topic that is kept and empty, and one that loses its only message at once")
    func empty() async throws {
        var options = TopicOptions()
        try options.keep("#", .init(size: .kibibytes(1)))
        let topics = Topics(options: options)
        var exact = topics["a"].messages().makeAsyncIterator()
        var pattern = topics["+"].messages().makeAsyncIterator()
        let long = String(repeating: "x", count: 2_000)
        for text in ["1", long, "2"] { #expect(topics["a"].publish(text) != .published(to: 0, nil)) }
        for text in ["1", long, "2"] {
            #expect(try await exact.next()?.text == text)
            #expect(try await pattern.next()?.text == text)
        }
        #expect(topics.subscriptionCount == 2)
    }

    @Test("What was asked for of the past counts for no policy, and one whose closure publishes is in nobody's way")
    func past() async throws {
        var options = TopicOptions()
        try options.keep("#", .init(count: 50))
        let topics = Topics(options: options)
        for number in 1...20 { topics["a"].publish("\(number)") }
        let slow = SlowReaderPolicy<TopicMessage>.latest(by: { message in
            topics["b"].publish(message.message)
            return message.text
        })
        var iterator = topics["a"].messages(slow: slow, replay: .last(10)).makeAsyncIterator()
        topics["a"].publish("21")
        for number in 11...21 { #expect(try await iterator.next()?.text == "\(number)") }
        var waiting = topics["a"].messages(slow: .wait, replay: .last(10)).makeAsyncIterator()
        #expect(try await waiting.next()?.text == "12")
        #expect(topics["b"].position?.offset == 1)
    }

    @Test("A name that isn't valid is told at the first message")
    func invalid() async {
        var iterator = Topics()["a//b"].messages().makeAsyncIterator()
        await #expect(throws: TopicError.self) { try await iterator.next() }
    }

    @Test("A task that is cancelled leaves")
    func cancels() async throws {
        let topics = Topics()
        let task = Task {
            var count = 0
            for try await _ in topics["a"].messages() { count += 1 }
            return count
        }
        while topics.subscriptionCount == 0 { await Task.yield() }
        task.cancel()
        #expect(try await task.value == 0)
        #expect(topics.count == 0)
    }
}
