// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct InterfaceAddressesTests {
    @Test("The loopback interface has the loopback addresses, with port 0")
    func loopback() throws {
        let addresses = try InterfaceAddresses.named("lo")
        #expect(addresses.contains(try SocketAddress("127.0.0.1", port: 0)))
        #expect(addresses.allSatisfy { $0.port == 0 })
    }

    @Test("An interface that isn't there is an error that names it", arguments: ["", "l", "lo0", "duplex-none"])
    func missing(name: String) {
        #expect { try InterfaceAddresses.named(name) } throws: {
            let error = $0 as? SocketError
            return error?.code == .cannotBind && error?.message.contains("“\(name)”") == true
        }
    }
}
