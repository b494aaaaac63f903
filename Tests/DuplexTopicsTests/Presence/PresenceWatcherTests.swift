// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Synchronization
import Testing

@testable import DuplexTopics

@Suite("One who watches a topic", .timeLimit(minutes: 1))
struct PresenceWatcherTests {
    private static func notice(_ number: Int) -> PresenceNotice {
        PresenceNotice("a", .joined(PresenceMember(id: "\(number)")))
    }

    private static func taken(_ watcher: PresenceWatcher) -> String {
        switch watcher.next() {
        case .notice(let notice): notice.change.member.id
        case .none: "none"
        case .behind: "behind"
        case .over: "over"
        }
    }

    @Test("It is woken once for what it hasn't taken, and again when it has taken all")
    func wakes() {
        let watcher = PresenceWatcher {}
        #expect(watcher.put(Self.notice(1)) == true)
        #expect(watcher.put(Self.notice(2)) == false)
        #expect([Self.taken(watcher), Self.taken(watcher), Self.taken(watcher)] == ["1", "2", "none"])
        #expect(watcher.put(Self.notice(3)) == true)
    }

    @Test("Behind a bound nothing more is taken in, which it is told behind what waits")
    func bound() {
        let watcher = PresenceWatcher {}
        for number in 0..<PresenceWatcher.bound + 5 { _ = watcher.put(Self.notice(number)) }
        for number in 0..<PresenceWatcher.bound { #expect(Self.taken(watcher) == "\(number)") }
        #expect(Self.taken(watcher) == "behind")
        #expect(watcher.put(Self.notice(1)) == false)
    }

    @Test("One that has ended takes nothing in, and whoever waits for it goes on")
    func ends() async {
        let watcher = PresenceWatcher()
        let task = Task { await watcher.wait() }
        watcher.finish()
        await task.value
        #expect(watcher.put(Self.notice(1)) == false)
        #expect(Self.taken(watcher) == "over")
    }
}

@Suite("Changes of presence in JSON")
struct PresenceNoticeTests {
    @Test("They name the topic, who it is, and what they say")
    func texts() {
        let joined = PresenceNotice("room/1", .joined(PresenceMember(id: "ann", info: #"{"a":1}"#)))
        #expect(joined.frame.message == #"{"topic":"room/1","joined":{"member":"ann","info":{"a":1}}}"#)
        let left = PresenceNotice("room/1", .left(PresenceMember(id: "ann")))
        #expect(left.frame.message == #"{"topic":"room/1","left":{"member":"ann"}}"#)
    }
}
