// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexTopics

@Suite("Where a link to Redis stands")
struct RedisLinkStateTests {
    @Test("Each observer gets the present state and every change, up to the end")
    func observes() async {
        let states = ChangeBroadcast(RedisLinkState.idle)
        let early = states.observe()
        states.tell(.connecting(attempt: 1))
        let late = states.observe()
        states.tell(.connected("redis://me:secret@a"))
        states.tell(.closed)
        states.finish()
        let afterwards = states.observe()
        #expect(await early.texts == ["idle", "connecting, attempt 1", "connected to redis://a:6379/0", "closed"])
        #expect(await late.texts == ["connecting, attempt 1", "connected to redis://a:6379/0", "closed"])
        #expect(await afterwards.texts == ["closed"])
        #expect(states.last?.isConnected == false)
    }
}

extension AsyncStream where Element == RedisLinkState {
    fileprivate var texts: [String] {
        get async {
            var texts: [String] = []
            for await state in self { texts.append(state.description) }
            return texts
        }
    }
}
