// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexCommand

@Suite("Addresses of streams on the command line")
struct StreamAddressTests {
    @Test(
        "URLs",
        arguments: [
            ("tcp://localhost:7000", ListenAddress.tcp(port: 7_000), false),
            ("tcp://*:0", .tcp(host: .any, port: 0), false),
            ("tls://127.0.0.1:443", .tcp(host: "127.0.0.1", port: 443), true),
            ("tcp://[::1]:7", .tcp(host: .address("::1"), port: 7), false), ("unix:/tmp/a", .unix("/tmp/a"), false),
        ]
    )
    func urls(text: String, address: ListenAddress, isSecured: Bool) throws {
        let stream = try #require(StreamAddress(argument: text))
        #expect(stream.address == address && stream.isSecured == isSecured)
    }

    @Test(
        "What is none",
        arguments: ["", "8080", "tcp://localhost", "tcp://::1:7", "udp://a:1", "tcp://a:70000", "unix:"]
    )
    func others(text: String) {
        #expect(StreamAddress(argument: text) == nil)
    }

    @Test("What is listened on is told as a URL to connect to")
    func url() throws {
        let stream = try #require(StreamAddress(argument: "tls://[::1]:0"))
        #expect(stream.url(of: try SocketAddress("::1", port: 7)) == "tls://[::1]:7")
        #expect(stream.url(of: try .unix("/tmp/a")) == "unix:/tmp/a")
    }
}
