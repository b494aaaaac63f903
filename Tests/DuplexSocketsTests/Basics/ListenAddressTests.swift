// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct ListenAddressTests {
    @Test(
        "A host is read as a person writes it",
        arguments: [
            ("localhost", LocalHost.loopback), ("*", .any), ("", .any), ("192.0.2.1", .address("192.0.2.1")),
        ]
    )
    func hosts(text: String, host: LocalHost) {
        #expect(LocalHost(text) == host)
    }

    @Test("It describes itself with host and port")
    func description() {
        #expect(ListenAddress.unix("/run/app", permissions: 0o600).description == "unix:/run/app")
        #expect(ListenAddress.tcp(port: 80).description == "localhost:80")
        #expect(ListenAddress.tcp(host: .any, port: 0).description == "*:0")
        #expect(ListenAddress.tcp(host: .interface("eth0"), port: 80).description == "eth0:80")
        #expect(ListenAddress.descriptor(7).description == "descriptor 7")
        #expect(ListenAddress.inherited().description == "the inherited sockets")
        #expect(ListenAddress.inherited(name: "web").description == "the inherited sockets “web”")
    }

    @Test("An address that isn't one is refused when it is bound")
    func notAnAddress() {
        #expect { try SocketListener.bind(.tcp(host: "nowhere", port: 0)) } throws: {
            ($0 as? SocketError)?.code == .invalidAddress
        }
    }
}
