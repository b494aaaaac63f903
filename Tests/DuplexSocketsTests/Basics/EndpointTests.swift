// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct EndpointTests {
    @Test("The brackets of an IPv6 address are optional, and there once in the description")
    func brackets() {
        #expect(Endpoint.host("[::1]", port: 80) == .host("::1", port: 80))
        #expect(Endpoint.host("[::1]", port: 80).description == "[::1]:80")
        #expect(Endpoint.host("example.com", port: 8_080).description == "example.com:8080")
    }

    @Test("An address that is known is described as in a URL")
    func address() throws {
        #expect(Endpoint.unix("/run/app").description == "unix:/run/app")
        #expect(Endpoint.address(try SocketAddress("127.0.0.1", port: 1)).description == "127.0.0.1:1")
        #expect(Endpoint.address(try SocketAddress("::1", port: 2)).description == "[::1]:2")
    }

    @Test("A secured endpoint isn't the plain one, says so, and names whom the certificate has to be for")
    func secured() {
        let endpoint = Endpoint.tls("example.com", port: 443)
        #expect(endpoint != .host("example.com", port: 443))
        #expect(endpoint.isSecured && !Endpoint.host("example.com", port: 443).isSecured)
        #expect(endpoint.description == "tls://example.com:443")
        #expect(endpoint.serverName == "example.com")
        #expect(Endpoint.tls("[fe80::1%eth0]", port: 1).serverName == "fe80::1")
        #expect(Endpoint.tls("[::1]", port: 1) == .tls("::1", port: 1))
        #expect(Endpoint.host("example.com", port: 443).serverName == nil)
    }
}
