// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
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

    @Test(
        "An endpoint is kept as its URL",
        arguments: [
            (.host("example.com", port: 80), "tcp://example.com:80"),
            (.tls("example.com", port: 443), "tls://example.com:443"), (.host("[::1]", port: 7), "tcp://[::1]:7"),
            (.tls("fe80::1%eth0", port: 7), "tls://[fe80::1%25eth0]:7"), (.unix("/run/a b"), "unix:/run/a b"),
            (.unix("/100%/?#"), "unix:/100%25/%3F%23"), (.unix("//run/a"), "unix:////run/a"), (.unix("a"), "unix:a"),
        ] as [(Endpoint, String)]
    )
    func codable(endpoint: Endpoint, url: String) throws {
        let json = try JSONEncoder().encode([endpoint])
        #expect(try JSONDecoder().decode([String].self, from: json) == [url])
        #expect(try JSONDecoder().decode([Endpoint].self, from: json) == [endpoint])
    }

    @Test("A known address is kept as a host, and the path of a Unix socket as a path")
    func codableAddress() throws {
        let endpoints = [
            Endpoint.address(try SocketAddress("192.0.2.1", port: 80)), .address(try SocketAddress("::1", port: 80)),
            .address(try .unix("/run/app")),
        ]
        let read = try JSONDecoder().decode([Endpoint].self, from: JSONEncoder().encode(endpoints))
        #expect(read == [.host("192.0.2.1", port: 80), .host("::1", port: 80), .unix("/run/app")])
    }

    @Test(
        "An endpoint that can't be connected to isn't written",
        arguments: [.host("example.com", port: 0), .host("", port: 1), .host("a/b", port: 1), .unix("")] as [Endpoint]
    )
    func notEncoded(endpoint: Endpoint) {
        #expect(throws: EncodingError.self) { try JSONEncoder().encode([endpoint]) }
    }

    @Test(
        "What is no endpoint isn't read, and the error says why",
        arguments: ["example.com:80", "tcp://example.com", "ws:"]
    )
    func notDecoded(text: String) throws {
        let json = try JSONEncoder().encode([text])
        let error = #expect(throws: DecodingError.self) { try JSONDecoder().decode([Endpoint].self, from: json) }
        guard case .dataCorrupted(let context)? = error else {
            Issue.record("not the error that was expected: \(String(describing: error))")
            return
        }
        #expect(context.debugDescription.contains("port") || context.debugDescription.contains("scheme"))
    }
}
