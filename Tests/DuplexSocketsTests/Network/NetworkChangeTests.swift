// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite("Changes of the network that wait for a reader")
struct NetworkChangeTests {
    @Test("A change that waits already moves to the end, and its opposite stays")
    func coalesced() throws {
        let address = try SocketAddress("192.0.2.1", port: 0)
        var pending = PendingChanges()
        for _ in 0..<1_000 {
            pending.add(.interfaceDown("a"))
            pending.add(.routeChanged)
            pending.add(.addressAdded(address, interface: "a"))
            pending.add(.interfaceUp("a"))
        }
        #expect(
            pending.changes == [
                .interfaceDown("a"), .routeChanged, .addressAdded(address, interface: "a"), .interfaceUp("a"),
            ]
        )
        pending.add(.interfaceDown("a"))
        #expect(pending.changes.last == .interfaceDown("a") && pending.changes.count == 4)
        #expect(pending.next() == .routeChanged)
    }

    @Test("More than the bound become one that says so, and what comes then is kept")
    func bounded() {
        var pending = PendingChanges()
        for number in 0..<PendingChanges.bound { pending.add(.interfaceUp("\(number)")) }
        #expect(pending.changes.count == PendingChanges.bound)
        pending.add(.interfaceUp("last"))
        #expect(pending.changes == [.missed, .interfaceUp("last")])
        #expect(pending.next() == .missed)
        #expect(pending.next() == .interfaceUp("last"))
        #expect(pending.next() == nil)
    }

    @Test("Each says what it is")
    func described() throws {
        let address = try SocketAddress("2001:db8::1", port: 0)
        let changes: [NetworkChange] = [
            .interfaceUp("a"), .interfaceDown("a"), .addressAdded(address, interface: "a"),
            .addressRemoved(address, interface: "a"), .routeChanged, .missed,
        ]
        #expect(
            changes.map(\.description) == [
                "a is up", "a is down", "a has 2001:db8::1", "a hasn't 2001:db8::1 any more", "the routes have changed",
                "more has changed than was kept",
            ]
        )
    }
}
