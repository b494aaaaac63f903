// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite("Addresses that connections were made to")
struct ProvenAddressesTests {
    private func address(_ number: Int) -> SocketAddress { .ip([192, 0, 2, UInt8(number)], port: 0) }

    @Test("The latest of a bounded number of names are remembered")
    func bound() {
        var proven = ProvenAddresses(capacity: 2)
        for (name, number) in [("a", 1), ("b", 2), ("a", 3), ("c", 4)] { proven[name] = address(number) }
        #expect(proven.count == 2)
        #expect(proven["a"] == address(3) && proven["b"] == nil && proven["c"] == address(4))
        proven["c"] = nil
        #expect(proven.count == 1)
        proven.removeAll()
        #expect(proven.count == 0)
        var none = ProvenAddresses(capacity: 0)
        none["a"] = address(1)
        #expect(none["a"] == nil)
    }

    @Test("An answer is marked with the address only if it has it")
    func marking() {
        var proven = ProvenAddresses(capacity: 2)
        proven["a"] = address(1)
        let answer = Resolution([address(2), address(1)])
        #expect(proven.marked(answer, of: "a").proven == address(1))
        #expect(proven.marked(answer, of: "b").proven == nil)
        #expect(proven.marked(Resolution([address(2)]), of: "a").proven == nil)
    }
}
