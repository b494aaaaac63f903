// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexWebSockets

/// Connections through proxies that a test plays; the target behind them is played by the same peer.
@Suite("By way of a proxy")
struct ProxySettingsTests {
    /// The name has no address: whoever can be connected to all the same has had the proxy look it up.
    private static let target = "nowhere.invalid"
    private static let credentials = PasswordCredentials(user: "Aladdin", password: "open sesame")

    private func withProxy(
        _ proxy: ConfiguredProxy.Kind,
        credentials: PasswordCredentials? = nil,
        tls: TLSOptions? = nil,
        url: String = "ws://\(target)/x",
        options configured: WebSocketOptions = .patient,
        _ body: (Task<WebSocket, any Error>, Incoming) async throws -> Void
    ) async throws {
        var options = configured
        try await withIncoming { _, accept in
            switch proxy {
            case .http:
                options.proxy = .http("127.0.0.1", port: accept.port, credentials: credentials, tls: tls)
            case .socks4: options.proxy = .socks4("127.0.0.1", port: accept.port)
            case .socks4a: options.proxy = .socks4a("127.0.0.1", port: accept.port, user: credentials?.user ?? "")
            case .socks5: options.proxy = .socks5("127.0.0.1", port: accept.port, credentials: credentials)
            case .socks5h: options.proxy = .socks5h("127.0.0.1", port: accept.port, credentials: credentials)
            }
            let attempt = Task { [options] in try await WebSocket.connect(to: url, options: options) }
            try await body(attempt, accept)
        }
    }

    private func finish(_ attempt: Task<WebSocket, any Error>, _ peer: RawPeer) async throws {
        let request = try await peer.acceptWebSocket(followedBy: [.text("hello")])
        #expect(request.hasPrefix("GET /x HTTP/1.1\r\nHost: \(Self.target)\r\n"))
        let socket = try await attempt.value
        #expect(try await socket.receive() == .text("hello"))
        await peer.reset()
    }

    @Test("An HTTP proxy is asked for a tunnel, also without TLS, and looks the name up")
    func tunnel() async throws {
        try await withProxy(.http) { attempt, accept in
            let peer = try await accept()
            let request = try await peer.readHead()
            #expect(request == "CONNECT \(Self.target):80 HTTP/1.1\r\nHost: \(Self.target):80\r\n\r\n")
            try await peer.send("HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n")
            try await finish(attempt, peer)
        }
    }

    @Test("Within the tunnel TLS is agreed upon with the target")
    func secured() async throws {
        let identity = try TLSIdentity.selfSigned(for: [Self.target])
        var options = WebSocketOptions.patient
        options.tls.trust = .roots(identity.certificates)
        try await withProxy(.http, url: "wss://\(Self.target)/x", options: options) { attempt, accept in
            let peer = try await accept()
            #expect(try await peer.readHead().hasPrefix("CONNECT \(Self.target):443 HTTP/1.1\r\n"))
            try await peer.send("HTTP/1.1 200 OK\r\n\r\n")
            try await peer.socket.startTLS(TLSServerOptions.patient(identity))
            try await finish(attempt, peer)
        }
    }

    @Test("A target that isn't trusted is an error although the proxy is fine")
    func untrusted() async throws {
        let identity = try TLSIdentity.selfSigned(for: [Self.target])
        try await withProxy(.http, url: "wss://\(Self.target)/x") { attempt, accept in
            let peer = try await accept()
            _ = try await peer.readHead()
            try await peer.send("HTTP/1.1 200 OK\r\n\r\n")
            try? await peer.socket.startTLS(TLSServerOptions.patient(identity))
            let error = await #expect(throws: WebSocketError.self) { try await attempt.value }
            #expect((error?.cause as? SocketError)?.code == .untrustedPeer)
            #expect(error?.stage == .tls)
        }
    }

    @Test("Basic is sent when it is asked for, on the same connection")
    func basic() async throws {
        try await withProxy(.http, credentials: Self.credentials) { attempt, accept in
            let peer = try await accept()
            #expect(try await peer.readHead().contains("Authorization") == false)
            let challenge = "Proxy-Authenticate: Basic realm=x\r\n"
            try await peer.send("HTTP/1.1 407 No\r\n\(challenge)Content-Length: 3\r\n\r\nno!")
            let second = try await peer.readHead()
            #expect(second.contains("Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"))
            try await peer.send("HTTP/1.1 200 OK\r\n\r\n")
            try await finish(attempt, peer)
        }
    }

    @Test("Digest is preferred, and a proxy that closes is connected to again")
    func digest() async throws {
        try await withProxy(.http, credentials: Self.credentials) { attempt, accept in
            let first = try await accept()
            _ = try await first.readHead()
            let challenges = "Basic realm=x, Digest realm=\"r\", nonce=\"n\", qop=\"auth\""
            try await first.send(
                "HTTP/1.1 407 No\r\nProxy-Authenticate: \(challenges)\r\nConnection: close\r\n\r\n"
            )
            let second = try await accept()
            let request = try await second.readHead()
            let secret = hexadecimal("Aladdin:r:open sesame")
            let cnonce = request.split(separator: "cnonce=\"").last?.prefix { $0 != "\"" } ?? ""
            let asked = hexadecimal("CONNECT:\(Self.target):80")
            let response = hexadecimal("\(secret):n:00000001:\(cnonce):auth:\(asked)")
            #expect(request.contains("response=\"\(response)\""))
            #expect(await first.isOver())
            try await second.send("HTTP/1.1 200 OK\r\n\r\n")
            try await finish(attempt, second)
        }
    }

    private func hexadecimal(_ text: String) -> String {
        let digits = HTTPDigest.digest(.md5, Array(text.utf8)) ?? []
        return digits.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("What a proxy answers instead of a tunnel can be acted on", arguments: [403, 407, 502])
    func refused(status: Int) async throws {
        try await withProxy(.http) { attempt, accept in
            let peer = try await accept()
            _ = try await peer.readHead()
            try await peer.send("HTTP/1.1 \(status) No\r\nProxy-Authenticate: Basic realm=x\r\nX-Why: that\r\n\r\n")
            let error = await #expect(throws: WebSocketError.self) { try await attempt.value }
            #expect(error?.code == .cannotConnect)
            #expect(error?.stage == .proxy)
            #expect(error?.status?.code == status)
            #expect((error?.hint != nil) == (status == 407))
            #expect(error?.headers?[HTTPField.Name("X-Why") ?? .via] == "that")
            #expect((error?.cause as? SocketError)?.code == .proxyRefused)
            #expect(await peer.isOver())
        }
    }

    @Test("A proxy that ends the stream, or resets, is an error")
    func ended() async throws {
        for isReset in [false, true] {
            try await withProxy(.http) { attempt, accept in
                let peer = try await accept()
                _ = try await peer.readHead()
                if isReset { await peer.reset() } else { await peer.finishWriting() }
                let error = await #expect(throws: WebSocketError.self) { try await attempt.value }
                #expect(error?.code == .cannotConnect)
                #expect(error?.stage == .proxy)
            }
        }
    }

    @Test("The deadline holds for a proxy that stays silent, and cancelling ends it at once")
    func silent() async throws {
        var options = WebSocketOptions()
        options.connectTimeout = .milliseconds(50)
        try await withProxy(.http, options: options) { attempt, accept in
            let peer = try await accept()
            await expect(.timedOut) { try await attempt.value }
            _ = try? await peer.readHead()
            #expect(await peer.isOver())
        }
        try await withProxy(.socks5h) { attempt, accept in
            let peer = try await accept()
            _ = try await peer.read(exactly: 3)
            attempt.cancel()
            await #expect(throws: CancellationError.self) { try await attempt.value }
            #expect(await peer.isOver())
        }
    }

    @Test("SOCKS 5 gives the proxy the name, and credentials if it wants them")
    func socks5h() async throws {
        let credentials = PasswordCredentials(user: "mia", password: "pw")
        try await withProxy(.socks5h, credentials: credentials) { attempt, accept in
            let peer = try await accept()
            #expect(try await peer.read(exactly: 4) == [5, 2, 0, 2])
            try await peer.send([5, 2])
            #expect(try await peer.read(exactly: 8) == [1, 3] + Array("mia".utf8) + [2] + Array("pw".utf8))
            try await peer.send([1, 0])
            let name = Array(Self.target.utf8)
            let request: [UInt8] = [5, 1, 0, 3, UInt8(name.count)] + name + [0, 80]
            #expect(try await peer.read(exactly: request.count) == request)
            try await peer.sendByteByByte([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
            try await finish(attempt, peer)
        }
    }

    @Test("SOCKS 4a gives it the name, too")
    func socks4a() async throws {
        try await withProxy(.socks4a, credentials: PasswordCredentials(user: "mia", password: "")) { attempt, accept in
            let peer = try await accept()
            let texts = Array("mia".utf8) + [0] + Array(Self.target.utf8) + [0]
            let request: [UInt8] = [4, 1, 0, 80, 0, 0, 0, 1] + texts
            #expect(try await peer.read(exactly: request.count) == request)
            try await peer.send([0, 90, 0, 0, 0, 0, 0, 0])
            try await finish(attempt, peer)
        }
    }

    @Test("SOCKS 4 and 5 are given an address, which this side looks up")
    func lookedUp() async throws {
        for version in [4, 5] as [UInt8] {
            let make: @Sendable (Int) -> ProxySettings = { port in
                version == 4 ? .socks4("127.0.0.1", port: port) : .socks5("127.0.0.1", port: port)
            }
            try await withIncoming { listener, accept in
                let port = try WebSocketURL(listener).port
                var options = ConnectOptions()
                options.resolver = try StaticResolver(literals: ["target.test": ["192.0.2.7"]])
                options.proxy = make(port)
                let attempt = Task { [options] in
                    try await Socket.connect(to: .host("target.test", port: 80), options: options)
                }
                let peer = try await accept()
                if version == 5 {
                    _ = try await peer.read(exactly: 3)
                    try await peer.send([5, 0])
                    #expect(try await peer.read(exactly: 10) == [5, 1, 0, 1, 192, 0, 2, 7, 0, 80])
                    // What follows the answer is the target's.
                    try await peer.send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0] + Array("220 hello\r\n".utf8))
                } else {
                    #expect(try await peer.read(exactly: 9) == [4, 1, 0, 80, 192, 0, 2, 7, 0])
                    try await peer.send([0, 90, 0, 0, 0, 0, 0, 0] + Array("220 hello\r\n".utf8))
                }
                let socket = try await attempt.value
                #expect(try await socket.readLine() == "220 hello")
                #expect(socket.timeline?.proxy != nil)
                await socket.close()
            }
        }
    }

    @Test("What the server says first behind an HTTP tunnel isn't lost")
    func serverFirst() async throws {
        try await withIncoming { listener, accept in
            var options = ConnectOptions()
            options.proxy = .http("127.0.0.1", port: try WebSocketURL(listener).port)
            let attempt = Task { [options] in
                try await Socket.connect(to: .host("mail.invalid", port: 25), options: options)
            }
            let peer = try await accept()
            _ = try await peer.readHead()
            try await peer.send("HTTP/1.1 200 OK\r\n\r\n220 hello\r\n221 bye\r\n")
            await peer.finishWriting()
            let socket = try await attempt.value
            #expect(try await socket.readLine() == "220 hello")
            #expect(try await socket.readLine() == "221 bye")
            await socket.close()
        }
    }

    @Test("The connection to the proxy itself can be secured")
    func securedProxy() async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        var tls = TLSOptions()
        tls.trust = .roots(identity.certificates)
        tls.serverName = "localhost"
        let secured = tls
        try await withProxy(.http, tls: secured) { attempt, accept in
            let peer = try await accept()
            try await peer.socket.startTLS(TLSServerOptions.patient(identity))
            _ = try await peer.readHead()
            let key = "HTTP/1.1 200 OK\r\n\r\n"
            try await peer.send(key)
            try await finish(attempt, peer)
        }
    }

    @Test("A proxy that nobody runs can't be reached, and the error says that it is the proxy")
    func noProxy() async throws {
        try await withReservedPort { address in
            var options = WebSocketOptions()
            options.proxy = .http("127.0.0.1", port: address.port)
            let error = await failure(of: "ws://\(Self.target)/", options)
            #expect(error?.description.contains("The proxy can't be reached") == true)
        }
    }

    @Test("What is excepted is connected to directly")
    func excepted() async throws {
        try await withIncoming { url, accept in
            var options = WebSocketOptions()
            options.proxy = .http("192.0.2.1", port: 1).except("127.0.0.0/8")
            let attempt = Task { [options] in try await WebSocket.connect(to: url, options: options) }
            let peer = try await accept()
            try await peer.acceptWebSocket()
            _ = try await attempt.value
        }
    }
}

@Suite("What goes past the proxy")
struct ProxyExceptionsTests {
    @Test(
        "Members are about hosts as people expect",
        arguments: [
            ("example.com", "example.com", 80, true), ("example.com", "EXAMPLE.com.", 80, true),
            ("example.com", "www.example.com", 80, true), ("example.com", "badexample.com", 80, false),
            (".example.com", "example.com", 80, true), ("*.example.com", "a.b.example.com", 1, true),
            ("a, b c,,d", "c", 80, true), ("a, b c,,d", "d", 80, true), ("", "a", 80, false),
            ("*", "1.2.3.4", 80, true),
            ("a,*", "b", 80, true), ("example.com:8080", "example.com", 8_080, true),
            ("example.com:8080", "example.com", 80, false), ("10.0.0.0/8", "10.1.2.3", 80, true),
            ("10.0.0.0/8", "11.1.2.3", 80, false), ("10.0.0.0/8", "example.com", 80, false),
            ("1.2.3.4", "1.2.3.4", 80, true), ("1.2.3.4:81", "1.2.3.4", 80, false),
            ("1.2.3.4:81", "1.2.3.4", 81, true), ("2.3.4", "1.2.3.4", 80, false), ("::1", "::1", 80, true),
            ("[::1]", "::1", 80, true), ("[::1]:80", "::1", 80, true), ("[::1]:80", "::1", 81, false),
            ("2001:db8::/32", "2001:db8::5", 80, true), ("2001:db8::/32", "2001:db9::5", 80, false),
            ("example.com:99999", "example.com", 80, false), ("http://example.com", "example.com", 80, false),
            ("localhost", "localhost", 80, true), (".", "a", 80, false),
        ]
    )
    func members(list: String, host: String, port: Int, isDirect: Bool) {
        #expect(ProxyExceptions(list).contains(host, port: port) == isDirect)
    }
}
