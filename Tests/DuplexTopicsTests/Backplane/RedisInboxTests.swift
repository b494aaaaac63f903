// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("What waits for the loop of a backplane")
struct RedisInboxTests {
    private static func publication(_ size: Int = 0) -> RedisPublication {
        let message = BackplaneMessage(
            topic: "a",
            message: .binary(Array(repeating: 0, count: size)),
            origin: "o",
            number: 1
        )
        return RedisPublication(message, keeping: nil) { _ in }
    }

    @Test("The loop is asked once for all that waits")
    func asksOnce() {
        let inbox = RedisInbox(mostMessages: 10, mostBytes: 10_000)
        #expect(inbox.add(.subscribe("a")) == .asks)
        #expect(inbox.add(.unsubscribe("a")) == .added)
        #expect(inbox.take().count == 2)
        #expect(inbox.take().isEmpty)
        #expect(inbox.add(.subscribe("a")) == .asks)
        #expect(inbox.end())
        #expect(!inbox.end())
        #expect(inbox.add(.subscribe("a")) == .over)
    }

    @Test("Messages have room until they are published, by number and by bytes; a long one goes alone")
    func boundsMessages() {
        let inbox = RedisInbox(mostMessages: 2, mostBytes: 10_000)
        #expect(inbox.add(.publish(Self.publication())) == .asks)
        #expect(inbox.add(.publish(Self.publication())) == .added)
        #expect(inbox.add(.publish(Self.publication())) == .full)
        #expect(inbox.add(.subscribe("a")) == .added)
        for _ in 0..<2 { inbox.release(Self.publication()) }
        #expect(inbox.add(.publish(Self.publication(20_000))) == .added)
        #expect(inbox.add(.publish(Self.publication())) == .full)
        inbox.release(Self.publication(20_000))
        #expect(inbox.add(.publish(Self.publication())) == .added)
    }

    @Test("A message that isn't kept is a whole frame")
    func writesFrames() throws {
        let message = BackplaneMessage(topic: "a", message: "hi", origin: "o", number: 7)
        let publication = RedisPublication(message, keeping: nil) { _ in }
        #expect(try TopicFrame(publication.frame) == TopicFrame(.text("hi"), from: "o", number: 7))
    }
}
