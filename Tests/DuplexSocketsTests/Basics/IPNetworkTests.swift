// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct IPNetworkTests {
    @Test(
        "An address belongs to a network when it begins with its bits",
        arguments: [
            ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.0", false),
            ("192.0.2.128/25", "192.0.2.128", true), ("192.0.2.128/25", "192.0.2.127", false),
            ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7/32", "192.0.2.6", false),
            ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "::1", false), ("::/0", "127.0.0.1", false),
            ("::/0", "2001:db8::1", true), ("2001:db8::/33", "2001:db8:7fff::1", true),
            ("2001:db8::/33", "2001:db8:8000::1", false), ("::1", "::1", true), ("::1", "::2", false),
            ("fe80::/10", "fe80::1%1", true), ("10.0.0.0/8", "::ffff:10.1.2.3", true),
            ("::ffff:10.0.0.0/104", "10.1.2.3", true), ("::ffff:10.0.0.0/104", "11.1.2.3", false),
            ("::/0", "::ffff:10.1.2.3", false),
        ]
    )
    func membership(network: String, address: String, isInside: Bool) throws {
        let address = try SocketAddress(address, port: 80)
        #expect(try IPNetwork(network).contains(address) == isInside)
    }

    @Test("The address of a Unix socket belongs to no network")
    func unix() throws {
        let address = try SocketAddress.unix("/tmp/socket")
        #expect(try !IPNetwork("0.0.0.0/0").contains(address))
        #expect(try !IPNetwork("::/0").contains(address))
    }

    @Test(
        "What isn't a network is refused",
        arguments: [
            "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.0/ 8",
            "10.0.0/8",
            "10.1.2.3/8", "2001:db8::1/32", "::/129", "localhost/8", "fe80::%1/10", "10.0.0.0/0008",
            "::ffff:10.1.0.0/104",
        ]
    )
    func refusal(text: String) {
        #expect { try IPNetwork(text) } throws: { ($0 as? SocketError)?.code == .invalidAddress }
    }

    @Test("A network is written as it is read")
    func description() throws {
        for text in ["10.0.0.0/8", "0.0.0.0/0", "2001:db8::/32", "::1/128"] {
            #expect(try IPNetwork(text).description == text)
        }
        #expect(try IPNetwork("192.0.2.7").description == "192.0.2.7/32")
        #expect(try IPNetwork("::ffff:10.0.0.0/104").description == "10.0.0.0/8")
        #expect(IPNetwork.loopback.map(\.description) == ["127.0.0.0/8", "::1/128"])
    }
}
