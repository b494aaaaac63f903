// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("What Redis keeps of a topic, as it is read")
struct RedisBackplaneCoreTests {
    private static func frame(_ offset: UInt64) -> RedisValue {
        .bulk(TopicFrame(.text("\(offset)"), at: .init(epoch: "e", offset: offset), from: "o", number: offset).encoded)
    }

    private static func read(_ last: String, _ frames: [RedisValue]) -> [UInt64]? {
        BackplaneHistory(.array([.bulk(Array("e".utf8)), .bulk(Array(last.utf8)), .array(frames)]), of: "a")?
            .messages.compactMap(\.position?.offset)
    }

    @Test("Messages are those that lead to the last one without a gap")
    func readsHistory() {
        #expect(Self.read("3", [Self.frame(3), Self.frame(2), Self.frame(1)]) == [1, 2, 3])
        #expect(Self.read("3", [Self.frame(3), Self.frame(1)]) == [3])
        #expect(Self.read("4", [Self.frame(3), Self.frame(2)]) == [])
        #expect(Self.read("3", [Self.frame(3), .bulk([9]), Self.frame(1)]) == [3])
        #expect(Self.read("0", []) == [])
    }

    @Test("What makes no sense is no history")
    func refuses() {
        #expect(Self.read("x", []) == nil)
        #expect(Self.read("-1", []) == nil)
        #expect(BackplaneHistory(.null, of: "a") == nil)
        #expect(BackplaneHistory(.array([.null, .integer(1), .array([])]), of: "a") == nil)
    }
}

@Suite("What is logged while Redis can't be used")
struct RedisOutageTests {
    private static let unreachable = RedisLinkState.waiting(
        RedisError(.cannotConnect, "a:1: No connection.\n  1.2.3.4:1 can't be connected to."),
        until: .now()
    )
    private static let lost = RedisLinkState.waiting(RedisError(.connectionLost, "It was lost."), until: .now())
    private static let refused = RedisLinkState.waiting(RedisError(.refused, "WRONGPASS"), until: .now())
    private static let connected = RedisLinkState.connected("redis://a")

    private static func lines(_ states: [RedisLinkState]) -> [RedisOutage.Line] {
        var outage = RedisOutage()
        return states.compactMap { outage.changed(to: $0) }
    }

    @Test("The beginning is told once, whatever the attempts are, and the end once")
    func once() {
        let attempts: [RedisLinkState] = (1...50).flatMap { [.connecting(attempt: $0), Self.unreachable] }
        #expect(
            Self.lines([.idle] + attempts + [.connecting(attempt: 51), Self.connected]) == [
                .began("a:1: No connection. 1.2.3.4:1 can't be connected to."), .ended,
            ]
        )
    }

    @Test("Nothing is told of a server that is there, nor of the end that this side makes")
    func nothing() {
        #expect(Self.lines([.idle, .connecting(attempt: 1), Self.connected, .closed]).isEmpty)
    }

    @Test("A server that comes back and refuses is told of as well, once")
    func refusing() {
        let states = [Self.connected, Self.lost, Self.unreachable, Self.refused, Self.unreachable, Self.refused]
        #expect(Self.lines(states) == [.began("It was lost."), .began("WRONGPASS")])
    }

    @Test("Each outage is told of")
    func several() {
        let states = [Self.connected, Self.lost, Self.connected, Self.lost, Self.lost, Self.connected]
        #expect(Self.lines(states) == [.began("It was lost."), .ended, .began("It was lost."), .ended])
    }
}
