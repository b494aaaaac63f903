// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct ProxyProtocolTests {
    @Test("Only the networks of the proxies are trusted, and Unix sockets")
    func trust() throws {
        let policy = ProxyProtocol.required(from: [try IPNetwork("10.0.0.0/8"), try IPNetwork("2001:db8::1")])
        #expect(!policy.isOff)
        for (address, isTrusted) in [("10.1.2.3", true), ("11.1.2.3", false), ("2001:db8::1", true), ("::1", false)] {
            #expect(policy.trusts(try SocketAddress(address, port: 1), isUnix: false) == isTrusted)
        }
        #expect(policy.trusts(try .unix("/tmp/a"), isUnix: true))
        #expect(policy.trusts(nil, isUnix: true))
        #expect(!policy.trusts(nil, isUnix: false))
    }

    @Test("Off, nobody is trusted; without networks, nobody of the internet is")
    func nobody() throws {
        #expect(ProxyProtocol.off.isOff)
        let loopback = try SocketAddress("127.0.0.1", port: 1)
        #expect(!ProxyProtocol.off.trusts(loopback, isUnix: false))
        #expect(!ProxyProtocol.required(from: []).trusts(loopback, isUnix: false))
        #expect(ProxyProtocol.required(from: IPNetwork.loopback).trusts(loopback, isUnix: false))
    }

    @Test(
        "The bound of a header stays within what a header can say",
        arguments: [(-1, 0), (100, 100), (70_000, 65_535)]
    )
    func bounds(given: Int, actual: Int) {
        #expect(ProxyProtocol.required(from: [], maximumLength: given).maximumLength == actual)
    }
}
