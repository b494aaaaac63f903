// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexServer

@Suite struct AddressCounterTests {
    private func address(_ host: String, port: Int = 1) throws -> SocketAddress { try SocketAddress(host, port: port) }

    @Test("As many as allowed are let in from one address, whatever their ports, and another when one has left")
    func limit() throws {
        let counter = AddressCounter(limit: 2)
        let first = try address("192.0.2.1", port: 1)
        let second = try address("192.0.2.1", port: 2)
        #expect(counter.enter(first) && counter.enter(second))
        #expect(!counter.enter(first))
        #expect(counter.enter(try address("192.0.2.2")))
        counter.leave(second)
        #expect(counter.enter(first))
        #expect(!counter.enter(second))
    }

    @Test("Of an IPv6 address the first 64 bits count")
    func networks() throws {
        let counter = AddressCounter(limit: 1)
        #expect(counter.enter(try address("2001:db8:0:1::1")))
        #expect(!counter.enter(try address("2001:db8:0:1:ffff::9")))
        #expect(counter.enter(try address("2001:db8:0:2::1")))
    }

    @Test("Nothing is kept of an address that has left")
    func leaving() throws {
        let counter = AddressCounter(limit: 10)
        let address = try address("192.0.2.1")
        for _ in 0..<3 { #expect(counter.enter(address)) }
        #expect(counter.addressCount == 1)
        for _ in 0..<3 { counter.leave(address) }
        #expect(counter.addressCount == 0)
    }

    @Test("This machine, Unix sockets and unknown addresses aren't counted, and nothing is without a limit")
    func uncounted() throws {
        let counter = AddressCounter(limit: 1)
        for address in [try address("127.0.0.1"), try address("::1"), try SocketAddress.unix("/tmp/a"), nil] {
            #expect(counter.enter(address) && counter.enter(address))
            counter.leave(address)
        }
        #expect(counter.addressCount == 0)
        let unlimited = AddressCounter(limit: .max)
        for _ in 0..<5 { #expect(unlimited.enter(try self.address("192.0.2.1"))) }
        #expect(unlimited.addressCount == 0)
    }
}
