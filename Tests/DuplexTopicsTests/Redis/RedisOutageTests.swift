// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexTopics

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
