// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct ConnectOptionsTests {
    @Test("The defaults are those that are documented")
    func defaults() {
        let options = ConnectOptions()
        #expect(options.timeout == .seconds(10) && options.attemptDelay == .milliseconds(250))
        #expect(options.lookupTimeout == nil && options.attemptTimeout == nil)
        #expect(options.preference == .ipv6 && options.families == [.ipv4, .ipv6])
        #expect(options.localAddress == nil && options.localPort == 0)
        #expect(options.resolver is SystemResolver)
        #expect(ConnectOptions(timeout: .seconds(3)).timeout == .seconds(3))
    }

    @Test(
        "Zero has all addresses tried together, and what is less than RFC 8305 allows becomes its least",
        arguments: [(0, nil), (-5, nil), (1, 10), (10, 10), (11, 11), (250, 250), (2_000, 2_000)] as [(Int, Int?)]
    )
    func attemptDelay(milliseconds: Int, effective: Int?) {
        var options = ConnectOptions()
        options.attemptDelay = .milliseconds(milliseconds)
        #expect(options.effectiveAttemptDelay == effective.map { .milliseconds($0) })
    }

    @Test("Both families switched off, and ports that are none, are refused")
    func check() throws {
        try ConnectOptions().check()
        var options = ConnectOptions()
        options.families = []
        #expect { try options.check() } throws: { ($0 as? SocketError)?.code == .invalidOptions }
        options.families = .ipv4
        try options.check()
        for port in [-1, 65_536] {
            options.localPort = port
            #expect { try options.check() } throws: { "\($0)".contains("\(port) is not a local port") }
        }
    }

    @Test("A family that is switched off doesn't allow its addresses; Unix sockets are always allowed")
    func families() throws {
        let four = try SocketAddress("192.0.2.1", port: 1)
        let six = try SocketAddress("2001:db8::1", port: 1)
        #expect(AddressFamilies.ipv4.allows(four) && !AddressFamilies.ipv4.allows(six))
        #expect(AddressFamilies.ipv6.allows(six) && !AddressFamilies.ipv6.allows(four))
        #expect(AddressFamilies.ipv6.allows(try .unix("/run/app")))
        let all: [AddressFamilies] = [.all, .ipv4, .ipv6, []]
        #expect(all.map(\.description) == ["IPv4 and IPv6", "IPv4", "IPv6", "no family"])
    }
}
