// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
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

@Suite("How much may be published in a second")
struct PublishRatesTests {
    private static func refused(_ publication: Topic.Publication) -> Bool {
        if case .refused(let error) = publication { error.code == .limitReached } else { false }
    }

    @Test("Messages beyond it are refused, and count for nothing")
    func messages() async throws {
        try await TopicFixture.run {
            $0.publishRate = .perSecond(10, burst: 3)
        } _: { fixture in
            let topic = fixture.topics["a"]
            var iterator = topic.makeAsyncIterator()
            #expect((0..<5).map { Self.refused(topic.publish("\($0)")) } == [false, false, false, true, true])
            await fixture.test.advance(by: .milliseconds(100))
            #expect((5..<7).map { Self.refused(topic.publish("\($0)")) } == [false, true])
            var texts: [String?] = []
            for _ in 0..<4 { texts.append(await iterator.next()?.text) }
            #expect(texts == ["0", "1", "2", "5"])
            #expect(fixture.topics.counts.published == 4)
        }
    }

    @Test("Bytes beyond it are refused, of all topics together; the last one may be longer than what is left")
    func bytes() async throws {
        try await TopicFixture.run {
            $0.publishByteRate = .perSecond(ByteCount.kibibytes(1))
        } _: { fixture in
            let long = [UInt8](repeating: 7, count: 1_000)
            #expect((0..<3).map { Self.refused(fixture.topics["\($0)"].publish(long)) } == [false, false, true])
            await fixture.test.advance(by: .milliseconds(900))
            #expect(Self.refused(fixture.topics["a"].publish(long)))
            await fixture.test.advance(by: .milliseconds(100))
            #expect(!Self.refused(fixture.topics["a"].publish(long)))
        }
    }

    @Test("Without a limit nothing is counted")
    func none() {
        #expect(PublishRates(TopicOptions(), now: Instant(nanoseconds: 0)) == nil)
    }
}

@Suite("Objects that say the same")
struct AlikeObjectsTests {
    private final class Text: Sendable {
        let text: String
        init(_ text: String) { self.text = text }
    }

    @Test("One serves all, for as long as anybody has it; no more than some are looked through")
    func shares() {
        let objects = AlikeObjects()
        func find(_ text: String) -> Text { objects.find(Text(text)) { $0.text == $1.text } }
        var held = [find("a")]
        #expect(find("a") === held[0] && find("b") !== held[0])
        held += (0..<15).map { find("\($0)") }
        #expect(find("14") === held[15])
        let beyond = find("x")
        #expect(find("x") !== beyond)
        held.removeLast()
        let next = find("y")
        #expect(find("y") === next)
    }
}
