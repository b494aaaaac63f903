// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct SourceAddressTests {
    @Test("An address is gone where the system says that it isn't this machine's")
    func isGone() throws {
        for own in ["127.0.0.1", "::1"] { #expect(!SourceAddress.isGone(try SocketAddress(own, port: 1))) }
        // RFC 5737 and RFC 3849: nobody's.
        for other in ["192.0.2.77", "2001:db8::77"] {
            #expect(SourceAddress.isGone(try SocketAddress(other, port: 1)))
        }
        #expect(!SourceAddress.isGone(try .unix("/tmp/none")))
    }

    @Test("There is an address for a peer where there is a route to it")
    func exists() throws {
        #expect(SourceAddress.exists(to: try SocketAddress("127.0.0.1", port: 9)))
        #expect(!SourceAddress.exists(to: try SocketAddress("fe80::1", port: 9)))
        #expect(!SourceAddress.exists(to: try .unix("/tmp/none")))
    }
}
