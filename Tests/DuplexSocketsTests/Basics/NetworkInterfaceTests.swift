// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Glibc
import Testing

@testable import DuplexSockets

@Suite struct NetworkInterfaceTests {
    @Test("An interface is found by its name, and its name by its number")
    func namesAndNumbers() throws {
        let index = try NetworkInterface.index(of: "lo")
        #expect(index > 0)
        #expect(NetworkInterface.name(of: index) == "lo")
        #expect(NetworkInterface.name(of: .max) == nil)
    }

    @Test("One that isn't there is named", arguments: ["duplex-none", "", "a name that is much too long for one"])
    func missing(name: String) {
        let error = socketError { _ = try NetworkInterface.index(of: name) }
        #expect(error?.code == .invalidAddress)
        #expect(error?.message == "There is no network interface “\(name)”.")
        #expect(socketError { _ = try NetworkInterface.addresses(of: name) }?.message == error?.message)
    }

    @Test("The addresses of the loopback interface are those of loopback")
    func addresses() throws {
        let hosts = try NetworkInterface.addresses(of: "lo").map(\.host)
        #expect(hosts.contains("127.0.0.1"))
        #expect(hosts.allSatisfy { $0 == "::1" || $0.hasPrefix("127.") }, "\(hosts)")
    }

    @Test("Each interface is there once, with its addresses")
    func states() throws {
        let states = try NetworkInterface.states()
        #expect(Set(states.map(\.name)).count == states.count)
        let loopback = try #require(states.first { $0.name == "lo" })
        #expect(loopback.isUp && loopback.addresses.contains { $0.host == "127.0.0.1" })
    }

    @Test(
        "The address that is valid on its link only comes last, with its interface",
        .enabled(NamespacedLoop.requirement) { await NamespacedLoop.isAllowed }
    )
    func scopes() async throws {
        try await NamespacedLoop.with { namespace in
            let (addresses, index) = try await namespace.run {
                (try NetworkInterface.addresses(of: "near0"), try NetworkInterface.index(of: "near0"))
            }
            let others = try await namespace.run { try NetworkInterface.addressesForOthers(port: 80) }
            #expect(others.first?.description == "10.99.0.1:80")
            #expect(others.allSatisfy { $0.scope == 0 && !$0.isLoopback }, "\(others)")
            #expect(addresses.first?.host == "10.99.0.1")
            #expect(Set(addresses.dropFirst().prefix(2).map(\.host)) == ["fd99::1", "fd99::9"])
            #expect(addresses.last?.host.hasPrefix("fe80::") == true)
            #expect(addresses.last?.scope == index)
        }
    }
}
