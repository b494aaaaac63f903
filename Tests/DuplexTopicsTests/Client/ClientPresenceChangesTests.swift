// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexTopics

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
        for number in 0...ClientWatch.mostMembers { watch.took(.joined(Self.member("\(number)"))) }
        #expect(watch.known == nil)
        watch.took(.left(Self.member("x")))
        watch.listed([Self.member("y")], of: 5_000)
        #expect(watch.known == nil)
        let given = try await Self.given(feed)
        #expect(given.count == ClientWatch.mostMembers + 2 && given.last == .left(Self.member("x")))
    }
}
