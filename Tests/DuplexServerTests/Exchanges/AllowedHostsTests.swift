// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import Testing

@testable import DuplexServer

@Suite struct AllowedHostsTests {
    @Test(
        "A server that only this machine reaches answers for this machine's names",
        arguments: [
            ("localhost", true), ("localhost:8080", true), ("a.b.localhost:1", true), ("127.0.0.1:8080", true),
            ("127.255.3.4", true), ("[::1]:8080", true), ("", true), ("evil.com", false), ("evil.com:8080", false),
            ("localhost.evil.com", false), ("127.0.0.1.evil.com", false), ("127.0.0.256", false), ("127.0.0", false),
            ("localhost.", true), ("localhost.:8080", true), ("a.localhost.", true), ("localhost..", false),
            ("evil.com.", false), (".", false), ("127.0.0.1.:80", true),
            ("[::2]", false), ("notlocalhost", false), ("192.168.1.1", false), ("127.0.0.+1", false),
        ]
    )
    func local(host: String, isAllowed: Bool) {
        #expect(AllowedHosts(nil, isLocal: true).contain(host) == isAllowed)
        #expect(AllowedHosts(nil, isLocal: false).contain(host))
    }

    @Test("Names of the app's are allowed beside these, in any case of letters, and a star allows all")
    func named() {
        for isLocal in [true, false] {
            let hosts = AllowedHosts(["My.App"], isLocal: isLocal)
            #expect(hosts.contain("my.app:80") && hosts.contain("localhost"))
            #expect(hosts.contain("my.app.") && hosts.contain("my.app.:80") && !hosts.contain("my.app.."))
            #expect(AllowedHosts(["my.app."], isLocal: isLocal).contain("my.app"))
            #expect(!hosts.contain("other.app"))
            #expect(AllowedHosts(["*"], isLocal: isLocal).contain("other.app"))
            #expect(AllowedHosts(["*.app"], isLocal: isLocal).contain("other.app"))
        }
    }

    @Test(
        "A page whose name was led to this machine gets 421, for requests and for WebSockets, also with its own Origin"
    )
    func rebinding() async throws {
        try await withServer { server in
            server.allowedHosts = nil
            server.get("/") { _ in "secret" }
            server.webSocket("/socket") { socket in try await socket.send("secret") }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let refused = try await peer.response(to: "GET / HTTP/1.1\r\nHost: evil.com\r\n\r\n")
            #expect(refused.status == 421 && !refused.text.contains("secret"))
            #expect(refused["X-Content-Type-Options"] == "nosniff")
            let request = RawPeer.upgradeRequest("/socket", "Origin: http://evil.com")
                .replacing("Host: localhost", with: "Host: evil.com")
            #expect(try await peer.response(to: request).status == 421)
            let allowed = try await peer.response(to: "GET / HTTP/1.1\r\nHost: localhost:\(address.port)\r\n\r\n")
            #expect(allowed.text == "secret")
            let dotted = try await peer.response(to: "GET / HTTP/1.1\r\nHost: localhost.:\(address.port)\r\n\r\n")
            #expect(dotted.text == "secret")
        }
    }
}

@Suite struct HostPatternTests {
    @Test(
        "A name is that host alone, and a star any host that ends so",
        arguments: [
            ("example.com", "example.com", true), ("Example.COM", "example.com", true),
            ("example.com", "www.example.com", false), ("*.example.com", "www.example.com", true),
            ("*.example.com", "a.b.example.com", true), ("*.example.com", "example.com", false),
            ("*.example.com", ".example.com", false), ("*.example.com", "badexample.com", false),
            ("example.com.", "example.com", true), ("*.example.com.", "www.example.com", true),
            ("[::1]", "[::1]", true), ("10.0.0.1", "10.0.0.1", true),
        ]
    )
    func matching(pattern: String, host: String, isMatched: Bool) throws {
        #expect(try #require(HostPattern(pattern)).matches(host[...]) == isMatched)
    }

    @Test(
        "What no request can be for is none",
        arguments: ["", ".", "*", "*.", "*..", "a.*", "example.com:80", "a/b", "*.*.a", "[::1", "::1]"]
    )
    func refused(text: String) {
        #expect(HostPattern(text) == nil)
    }

    @Test("A name is asked before a star, and a longer star before a shorter one")
    func order() throws {
        let patterns = try ["*.a", "*.b.a", "c.b.a"].map { try #require(HostPattern($0)) }
        #expect(patterns.shuffled().sorted { $0.isBefore($1) } == patterns.reversed())
    }
}
