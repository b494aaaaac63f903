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

    @Test("One that is finished gives what waits, and takes no more")
    func finishing() async throws {
        try await withPair { near, far in
            let inbox = ConnectionInbox()
            async let waiting = inbox.next()
            inbox.push(near)
            #expect(await waiting === near)
            inbox.push(near)
            #expect(!inbox.isExhausted)
            inbox.finish()
            inbox.push(far)
            #expect(!inbox.isExhausted)
            #expect(await inbox.next() === near)
            #expect(inbox.isExhausted)
            #expect(await inbox.next() == nil)
            let idle = ConnectionInbox()
            async let nothing = idle.next()
            idle.finish()
            #expect(await nothing == nil)
            #expect(idle.failure == nil)
        }
    }

    @Test("Why it was closed stays known, and only the first reason counts")
    func failure() async {
        for (first, second) in [
            (SocketError(.closed, message: "one"), nil), (nil, SocketError(.closed, message: "two")),
        ] {
            let inbox = ConnectionInbox()
            #expect(inbox.failure == nil)
            inbox.close(first)
            inbox.close(second)
            #expect(inbox.failure?.message == first?.message)
            #expect(await inbox.next() == nil)
        }
    }

    @Test("It says when it is full, and drops what finds no room in it even then")
    func bound() async throws {
        try await withPair { near, far in
            let inbox = ConnectionInbox(capacity: 2)
            inbox.push(near)
            #expect(!inbox.isFull)
            inbox.push(near)
            #expect(inbox.isFull)
            for _ in 0..<3 { inbox.push(far) }
            var taken = 0
            for socket in [near, near, far, far] {
                #expect(await inbox.next() === socket)
                taken += 1
            }
            #expect(taken == 4 && !inbox.isFull)
            async let next = inbox.next()
            inbox.close()
            #expect(await next == nil)
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
