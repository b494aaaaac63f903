// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("A subscription as its client has it")
struct ClientSubscriptionTests {
    private static func answer(_ offset: UInt64?, epoch: String = "e", isComplete: Bool = true) throws -> TopicReply {
        let position = offset.map { TopicPosition(epoch: epoch, offset: $0) }
        return try #require(TopicReply(.text(TopicAnswer.done(1, position: position, isComplete: isComplete))))
    }

    private static func topic(_ replay: TopicReplay = .none) -> ClientTopic {
        ClientTopic(feed: ClientFeed(mostItems: 10, mostBytes: 1_000), replay: replay)
    }

    /// What a message of a number becomes.
    private static func take(_ topic: inout ClientTopic, _ offset: UInt64, epoch: String = "e") -> TopicMessage? {
        topic.took("a", "", TopicPosition(epoch: epoch, offset: offset), isPattern: false)
    }

    @Test("It goes on behind the last message, and takes none twice")
    func resumes() throws {
        var topic = Self.topic(.last(2))
        #expect(topic.wish == .last(2))
        #expect(Self.take(&topic, 1) == nil, "Nothing is of this subscription before its answer.")
        topic.begins(try Self.answer(3))
        #expect(topic.wish == .after(TopicPosition(epoch: "e", offset: 3)))
        #expect(Self.take(&topic, 3) == nil)
        let taken = Self.take(&topic, 4)
        #expect(taken?.position?.offset == 4 && taken?.isAfterGap == false)
        #expect(Self.take(&topic, 4) == nil)
        topic.isLive = false
        topic.begins(try Self.answer(4))
        #expect(Self.take(&topic, 5)?.isAfterGap == false)
    }

    @Test("A gap is told by the next message, with its length where that is known")
    func gaps() throws {
        var topic = Self.topic()
        topic.begins(try Self.answer(5))
        topic.begins(try Self.answer(8, isComplete: false))
        let known = Self.take(&topic, 9)
        #expect(known?.isAfterGap == true && known?.missed == 3)
        topic.begins(try Self.answer(0, epoch: "f", isComplete: false))
        let unknown = Self.take(&topic, 1, epoch: "f")
        #expect(unknown?.isAfterGap == true && unknown?.missed == 0)
        #expect(Self.take(&topic, 2, epoch: "f")?.isAfterGap == false)
        topic.begins(try Self.answer(nil))
        #expect(topic.took("a", "", nil, isPattern: false)?.isAfterGap == true)
        #expect(topic.took("a", "", nil, isPattern: false)?.isAfterGap == false)
        topic.begins(try Self.answer(nil))
        #expect(topic.wish == .after(TopicPosition(epoch: "f", offset: 2)) && topic.isUnsure)
    }

    @Test("Where the server can't reach what is kept, what comes shows whether something is missing")
    func unsure() throws {
        var topic = Self.topic()
        topic.begins(try Self.answer(5))
        topic.begins(try Self.answer(nil, isComplete: false))
        // The server has what is kept now, and gives all of it.
        #expect(Self.take(&topic, 4) == nil && Self.take(&topic, 5) == nil)
        #expect(Self.take(&topic, 6)?.isAfterGap == false)
        topic.begins(try Self.answer(nil, isComplete: false))
        #expect(Self.take(&topic, 8)?.isAfterGap == true)
        #expect(Self.take(&topic, 9)?.isAfterGap == false)
        topic.begins(try Self.answer(nil, isComplete: false))
        #expect(Self.take(&topic, 10, epoch: "f")?.isAfterGap == true)
    }

    @Test("One that names a position is told what of it is missing")
    func after() throws {
        var topic = Self.topic(.after(TopicPosition(epoch: "e", offset: 1)))
        topic.begins(try Self.answer(3, isComplete: false))
        #expect(Self.take(&topic, 4)?.missed == 2)
        var complete = Self.topic(.after(TopicPosition(epoch: "e", offset: 1)))
        complete.begins(try Self.answer(1))
        #expect(Self.take(&complete, 2)?.isAfterGap == false)
    }

    @Test("Messages of a pattern have positions of many topics")
    func patterns() throws {
        var topic = Self.topic()
        topic.begins(try Self.answer(nil))
        for offset in [7, 3, 7] as [UInt64] {
            let position = TopicPosition(epoch: "e", offset: offset)
            #expect(topic.took("a/b", "", position, isPattern: true)?.position == position)
        }
        #expect(topic.wish == .none)
    }

    @Test(
        "Names and patterns that mean some topic in common",
        arguments: [
            ("a", "a", true), ("a", "b", false), ("a/#", "a", true), ("a/#", "a/b/c", true), ("#", "x", true),
            ("a/+", "a/b", true), ("a/+", "a", false), ("a/+", "a/b/c", false), ("+/b", "a/+", true),
            ("+/b", "a/c", false), ("a/b", "a", false), ("a/#", "b/#", false), ("+/x/#", "a/+", true),
        ]
    )
    func overlaps(one: String, other: String, isTrue: Bool) {
        #expect(TopicClient.overlap(one, other) == isTrue)
        #expect(TopicClient.overlap(other, one) == isTrue)
    }
}

@Suite("A topic that is watched, as its client has it")
struct ClientPresenceChangesTests {
    private static func member(_ id: String, _ info: String = "") -> PresenceMember {
        PresenceMember(id: id, info: info)
    }

    /// What was given on.
    private static func given(_ feed: ClientFeed<PresenceChange>) async throws -> [PresenceChange] {
        feed.finish()
        var changes: [PresenceChange] = []
        while let (change, _) = try await feed.next() { changes.append(change) }
        return changes
    }

    @Test("It begins with who is there, and behind a lost connection tells what has changed meanwhile")
    func lists() async throws {
        let feed = ClientFeed<PresenceChange>(mostItems: 100, mostBytes: .max)
        var watch = ClientWatch(feed)
        watch.listed([Self.member("a"), Self.member("b")], of: 2)
        watch.took(.joined(Self.member("b")))
        watch.took(.left(Self.member("nobody")))
        watch.took(.left(Self.member("a")))
        watch.listed([Self.member("b", "new"), Self.member("c")], of: 2)
        watch.listed([Self.member("c")], of: 1)
        #expect(
            try await Self.given(feed) == [
                .joined(Self.member("a")), .joined(Self.member("b")), .left(Self.member("a")),
                .joined(Self.member("b", "new")), .joined(Self.member("c")), .left(Self.member("b", "new")),
            ]
        )
    }

    @Test("Of more members than are known, what is told is given on")
    func many() async throws {
        let feed = ClientFeed<PresenceChange>(mostItems: 10_000, mostBytes: .max)
        var watch = ClientWatch(feed)
        watch.listed([], of: 0)
        for number in 0...ClientWatch.memberLimit { watch.took(.joined(Self.member("\(number)"))) }
        #expect(watch.known == nil)
        watch.took(.left(Self.member("x")))
        watch.listed([Self.member("y")], of: 5_000)
        #expect(watch.known == nil)
        let given = try await Self.given(feed)
        #expect(given.count == ClientWatch.memberLimit + 2 && given.last == .left(Self.member("x")))
    }
}
