// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Testing

@testable import DuplexWebSockets

@Suite("A proxy as it is configured")
struct ConfiguredProxyTests {
    @Test(
        "It is read from a URL",
        arguments: [
            ("http://a:3128", ConfiguredProxy.Kind.http, "a:3128"), ("a:3128", .http, "a:3128"),
            ("http://a", .http, "a:80"),
            ("https://a", .http, "tls://a:443"), ("https://a:8443/", .http, "tls://a:8443"),
            ("SOCKS5://[::1]", .socks5, "[::1]:1080"), ("socks5h://a:80", .socks5h, "a:80"),
            ("socks4://1.2.3.4:9", .socks4, "1.2.3.4:9"), ("socks4a://a", .socks4a, "a:1080"),
            ("http://u:p@a:80/x?y", .http, "a:80"), ("[::1]:81", .http, "[::1]:81"), ("u:9@a", .http, "a:80"),
        ]
    )
    func reading(url: String, kind: ConfiguredProxy.Kind, endpoint: String) throws {
        let proxy = try ConfiguredProxy(url: url)
        #expect(proxy.kind == kind)
        #expect(proxy.endpoint.description == endpoint)
    }

    @Test("Credentials are decoded")
    func credentials() throws {
        let proxy = try ConfiguredProxy(url: "socks5://mia:p%40ss@a")
        #expect(proxy.credentials == PasswordCredentials(user: "mia", password: "p@ss"))
    }

    @Test(
        "What is no proxy is an error",
        arguments: ["ftp://a", "http://", "http://a:99999", "://a", "http://a b", "u%zz@a"]
    )
    func faults(url: String) {
        let error = #expect(throws: SocketError.self) { _ = try ConfiguredProxy(url: url) }
        #expect(error?.code == .invalidOptions)
    }

    @Test("What the protocol has no room for is an error before anything is sent")
    func unsayable() throws {
        let proxy = try ConfiguredProxy(url: "socks4a://a")
        let error = #expect(throws: SocketError.self) {
            _ = try proxy.conversation(with: .address([UInt8](repeating: 0, count: 16), text: "::", port: 80))
        }
        #expect(error?.code == .proxyRefused)
    }

    @Test("Who looks names up follows from the kind")
    func names() throws {
        let kinds = ConfiguredProxy.Kind.allCases.filter {
            ConfiguredProxy(kind: $0, host: "a", port: 1).resolvesNames
        }
        #expect(kinds == [.socks4, .socks5])
    }
}

@Suite("Speaking with a proxy")
struct ProxyTalkTests {
    @Test("The steps of the rules become those of a connection, and so do their errors")
    func steps() throws {
        var talk = ProxyTalk(try SOCKS4Handshake(address: .ipv4([1, 2, 3, 4]), port: 80))
        let request = talk.start()
        #expect(request.first == 4)
        #expect(talk.wanted == 8)
        var position = 0
        let move = try talk.receive([0, 90, 0, 0, 0, 0, 0, 0].span, from: &position)
        #expect(move == .established)
        _ = talk.start()
        position = 0
        let error = #expect(throws: SocketError.self) {
            _ = try talk.receive([0, 91, 0, 0, 0, 0, 0, 0].span, from: &position)
        }
        #expect(error?.code == .proxyRefused)
        #expect((error?.proxyFailure as? ProxyError)?.code == .refused)
    }

    @Test("A stream that ends too early is an error")
    func ended() throws {
        var talk = ProxyTalk(try SOCKS5Handshake(address: .name("a"), port: 80))
        _ = talk.start()
        let error = #expect(throws: SocketError.self) { _ = try talk.finish() }
        #expect((error?.proxyFailure as? ProxyError)?.code == .connectionClosed)
    }
}
