// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct ConnectionInboxTests {
    @Test("Connections come out in the order in which they went in, also to a task that waits")
    func order() async throws {
        try await withPair { near, far in
            let inbox = ConnectionInbox()
            inbox.push(near)
            inbox.push(far)
            #expect(await inbox.next() === near)
            #expect(await inbox.next() === far)
            async let waiting = inbox.next()
            inbox.push(near)
            #expect(await waiting === near)
        }
    }

    @Test("Closing ends the wait, and what comes later is dropped")
    func closing() async throws {
        try await withPair { near, _ in
            let inbox = ConnectionInbox()
            async let waiting = inbox.next()
            inbox.close()
            #expect(await waiting == nil)
            inbox.push(near)
            #expect(await inbox.next() == nil)
        }
    }

    @Test("Cancelling the task that waits ends its wait")
    func cancelling() async {
        let inbox = ConnectionInbox()
        let task = Task { await inbox.next() }
        task.cancel()
        #expect(await task.value == nil)
    }
}
