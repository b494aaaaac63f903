// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexTestTimes
import HTTPTypes
import Testing

@testable import DuplexSockets
@testable import DuplexWebSockets
@testable import DuplexWire

@Suite struct WebSocketOptionsTests {
    @Test("The defaults are the documented ones")
    func defaults() {
        let options = WebSocketOptions()
        #expect(options.subprotocols.isEmpty)
        #expect(options.headers.isEmpty)
        #expect(options.limits == .internet)
        #expect(options.pings == .every(.seconds(20), timeout: .seconds(20)))
        #expect(options.connectTimeout == .seconds(10))
        #expect(options.closeTimeout == .seconds(10))
        #expect(options.redirects == 0 && options.cookies == nil)
        guard case .environment = options.proxy.kind else {
            Issue.record("\(options.proxy)")
            return
        }
        guard case .none = ConnectOptions().proxy.kind else {
            Issue.record("\(ConnectOptions().proxy)")
            return
        }
    }

    @Test("A subprotocol that is required and not chosen fails the connection; without one it opens")
    func requiredSubprotocol() async throws {
        try await withIncoming { url, incoming in
            var options = WebSocketOptions()
            options.requiresSubprotocol = true
            let unoffered = await failure(of: url, options)
            #expect(unoffered?.code == .invalidRequest && unoffered?.message.contains("none is offered") == true)
            options.subprotocols = ["chat.v2", "chat.v1"]
            async let error = failure(of: url, options)
            let peer = try await incoming()
            try await peer.acceptWebSocket()
            let refused = try #require(await error)
            #expect(refused.code == .handshakeRefused && refused.handshake?.code == .subprotocolDeclined)
            #expect("\(refused)".contains("chose none of the subprotocols chat.v2, chat.v1, and one is required"))
            #expect(refused.hint?.contains("requiresSubprotocol") == true)
            options.requiresSubprotocol = false
            async let open = WebSocket.connect(to: url, options: options)
            let other = try await incoming()
            try await other.acceptWebSocket()
            let socket = try await open
            #expect(socket.subprotocol == nil)
            await socket.reset()
            for peer in [peer, other] { await peer.reset() }
        }
    }

    @Test("As URLSession has it: a redirect is followed, and its cookie is sent from then on, by copies as well")
    func urlSession() async throws {
        #expect(WebSocketOptions.urlSession.redirects == 16)
        try await withListener { url, accept in
            async let connected = WebSocket.connect(to: url + "old", options: .urlSession)
            let first = try await accept()
            #expect(try await first.readHead().contains("\r\nCookie:") == false)
            try await first.send(
                "HTTP/1.1 302 Found\r\nLocation: /new\r\nSet-Cookie: preset=1; Path=/\r\nContent-Length: 0\r\n\r\n"
            )
            let second = try await accept()
            let request = try await second.acceptWebSocket()
            #expect(request.hasPrefix("GET /new HTTP/1.1\r\n") && request.contains("\r\nCookie: preset=1\r\n"))
            await (try connected).reset()
            let copy = WebSocketOptions.urlSession
            #expect(copy.cookies?.contents == WebSocketOptions.urlSession.cookies?.contents)
            for peer in [first, second] { await peer.reset() }
        }
    }

    @Test("Headers and subprotocols go out with the request")
    func request() async throws {
        var options = WebSocketOptions()
        options.subprotocols = ["chat.v2", "chat.v1"]
        options.headers[.authorization] = "Bearer secret"
        try await withListener { [options] url, accept in
            async let connected = WebSocket.connect(to: url + "room?id=7", options: options)
            let peer = try await accept()
            let request = try await peer.acceptWebSocket(headers: "Sec-WebSocket-Protocol: chat.v1")
            #expect(request.hasPrefix("GET /room?id=7 HTTP/1.1\r\n"))
            #expect(request.contains("\r\nSec-WebSocket-Protocol: chat.v2, chat.v1\r\n"))
            #expect(request.contains("\r\nAuthorization: Bearer secret\r\n"))
            #expect(try await connected.subprotocol == "chat.v1")
        }
    }

    @Test("How the connection below is made and what stands beside it are one: each is set by the other")
    func connecting() {
        var options = WebSocketOptions()
        #expect(options.connectOptions.timeout == .seconds(10) && options.tls.applicationProtocols == ["http/1.1"])
        #expect(options.connectOptions.attemptDelay == .milliseconds(250) && options.connectOptions.families == .all)
        #expect(options.connectOptions.preference == .ipv6 && options.connectOptions.socketOptions == SocketOptions())
        options.connectTimeout = .seconds(3)
        options.tls.serverName = "a.example"
        options.resolver = StaticResolver([:])
        #expect(options.connectOptions.timeout == .seconds(3) && options.connectOptions.tls.serverName == "a.example")
        #expect(options.connectOptions.resolver is StaticResolver)
        options.connectOptions.timeout = .seconds(4)
        options.connectOptions.tls.serverName = "b.example"
        #expect(options.connectTimeout == .seconds(4) && options.tls.serverName == "b.example")
    }

    /// Options whose connections can be told from others by the system.
    private static func marked() -> WebSocketOptions {
        var options = WebSocketOptions()
        options.connectOptions.localAddress = .address("127.0.0.5")
        options.connectOptions.socketOptions.keepalive = .after(.seconds(77), interval: .seconds(7), count: 3)
        options.connectOptions.socketOptions.trafficClass = 0x28
        return options
    }

    private static func expectMarked(_ socket: WebSocket, on peer: RawPeer) async throws {
        let descriptor = await socket.descriptor
        let set = try SocketOptions(of: descriptor, family: .ipv4)
        #expect(set.keepalive == .after(.seconds(77), interval: .seconds(7), count: 3))
        #expect(set.trafficClass == 0x28 && set.noDelay == true)
        #expect(SocketAddress.local(of: descriptor)?.host == "127.0.0.5")
        let seen = peer.socket.remoteAddress
        #expect(seen?.host == "127.0.0.5")
    }

    @Test("The connection comes from the place that was asked for, with the options of its socket")
    func socketOptions() async throws {
        try await withClient(options: Self.marked()) { socket, peer in
            try await Self.expectMarked(socket, on: peer)
        }
    }

    @Test("So does the one to a proxy")
    func proxied() async throws {
        try await withListener { url, accept in
            var options = Self.marked()
            let proxy = try WebSocketURL(url)
            options.proxy = .http(proxy.host, port: proxy.port)
            let attempt = Task { [options] in
                try await WebSocket.connect(to: "ws://target.invalid/", options: options)
            }
            let peer = try await accept()
            #expect(try await peer.readHead().hasPrefix("CONNECT target.invalid:80 "))
            try await peer.send("HTTP/1.1 200 OK\r\n\r\n")
            try await peer.acceptWebSocket()
            try await Self.expectMarked(try await attempt.value, on: peer)
        }
    }

    @Test("The connection comes from the port that was asked for")
    func localPort() async throws {
        try await withReservedPort { address in
            var options = WebSocketOptions()
            options.connectOptions.localPort = address.port
            options.connectOptions.localAddress = .address("127.0.0.5")
            try await withClient(options: options) { socket, peer in
                let seen = peer.socket.remoteAddress
                #expect(seen?.port == address.port && seen?.host == "127.0.0.5")
            }
        }
    }

    @Test("A family that is switched off isn't tried, and without any there is an error", arguments: [true, false])
    func families(isServed: Bool) async throws {
        try await withListener { url, accept in
            let port = try WebSocketURL(url).port
            var options = WebSocketOptions()
            options.resolver = try StaticResolver(literals: ["both.example": ["::1", "127.0.0.1"]])
            options.connectOptions.families = isServed ? .ipv4 : .ipv6
            let attempt = Task { [options] in
                try await WebSocket.connect(to: "ws://both.example:\(port)/", options: options)
            }
            guard isServed else {
                await expect(.cannotConnect) { try await attempt.value }
                options.connectOptions.families = []
                await expect(.cannotConnect) { [options] in try await WebSocket.connect(to: url, options: options) }
                return
            }
            let peer = try await accept()
            try await peer.acceptWebSocket()
            let attempts = await (try attempt.value).timeline.handshake?.connecting?.attempts
            #expect(attempts?.map(\.address.isIPv6) == [false])
        }
    }

    @Test("The limits hold for what the server sends")
    func limits() async throws {
        var options = WebSocketOptions()
        options.limits = .internet.with(messageSize: 10)
        try await withClient(options: options) { socket, peer in
            try await peer.send(.text("ten bytes."), .text("eleven byte"))
            #expect(try await socket.receive() == "ten bytes.")
            await expect(.protocolViolation) { try await socket.receive() }
            #expect(try await peer.readFrame().closeCode == 1_009)
        }
    }

    @Test("Pings are sent at their interval")
    func pings() async throws {
        var options = WebSocketOptions()
        options.pings = .every(.milliseconds(10), timeout: .seconds(20))
        try await withClient(options: options) { _, peer in
            for _ in 0..<3 {
                let ping = try await peer.readFrame()
                #expect(ping.opcode == 0x9)
                try await peer.send(.pong(ping.payload))
            }
        }
    }
}

extension WebSocket {
    fileprivate var descriptor: Int32 { channel.descriptor }
}

@Suite("Showing a server who this is")
struct WebSocketAuthenticationTests {
    /// The first request, and what comes of it when it is answered.
    private func request(
        _ authentication: WebSocketAuthentication,
        userInfo: String = "",
        answer: String? = nil,
        _ body: (String, Task<WebSocket, any Error>, RawPeer, Incoming) async throws -> Void
    ) async throws {
        try await withIncoming { url, accept in
            var options = WebSocketOptions()
            options.authentication = authentication
            let target = url.replacing("ws://", with: "ws://" + userInfo)
            let attempt = Task { [options] in try await WebSocket.connect(to: target, options: options) }
            let peer = try await accept()
            if let answer {
                let head = try await peer.readHead()
                try await peer.send(answer)
                try await body(head, attempt, peer, accept)
            } else {
                let head = try await peer.acceptWebSocket()
                _ = try await attempt.value
                try await body(head, attempt, peer, accept)
            }
        }
    }

    @Test("Basic comes from the URL or from the options, with the first request, and the latter goes first")
    func basic() async throws {
        try await request(.none, userInfo: "Aladdin:open%20sesame@") { head, _, _, _ in
            #expect(head.contains("\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"))
            #expect(!head.contains("@"))
        }
        try await request(.basic(user: "Aladdin", password: "open sesame"), userInfo: "other:one@") { head, _, _, _ in
            #expect(head.contains("\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"))
        }
        try await request(.none) { head, _, _, _ in #expect(!head.contains("Authorization")) }
    }

    @Test("Digest answers a challenge on a second connection")
    func digest() async throws {
        let challenge =
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=x\r\n"
            + "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256\r\n"
            + "Content-Length: 0\r\n\r\n"
        try await request(.digest(user: "mia", password: "pw"), answer: challenge) { head, attempt, first, accept in
            #expect(!head.contains("Authorization"))
            let second = try await accept()
            let request = try await second.acceptWebSocket()
            #expect(request.contains("\r\nAuthorization: Digest username=\"mia\", realm=\"r\", uri=\"/\","))
            #expect(request.contains("nc=00000001"))
            _ = try await attempt.value
            #expect(await first.isOver())
        }
    }

    @Test("Credentials that are refused are an error that can be acted on")
    func refused() async throws {
        let challenge =
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\nContent-Length: 2\r\n\r\nno"
        try await request(.automatic(user: "mia", password: "pw"), answer: challenge) { _, attempt, _, accept in
            let second = try await accept()
            _ = try await second.readHead()
            try await second.send(challenge)
            let error = await #expect(throws: WebSocketError.self) { try await attempt.value }
            #expect(error?.code == .handshakeRefused)
            #expect(error?.stage == .upgrade)
            #expect(error?.status?.code == 401)
            #expect(error?.headers?[.wwwAuthenticate]?.hasPrefix("Digest") == true)
            #expect(error?.body == Array("no".utf8))
            let hint = "the credentials were refused: the server asks for others, by the scheme Digest"
            #expect(error?.hint == hint + ": see WebSocketOptions.authentication")
            #expect(error?.timeline?.requests == 2)
            #expect(error?.timeline?.upgrade != nil)
            #expect(error?.description.contains("2 requests") == true)
        }
        try await request(
            .digest(user: "mia", password: "pw"),
            answer: "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\n\r\n"
        ) {
            _,
            attempt,
            peer,
            _ in
            await peer.finishWriting()
            let error = await #expect(throws: WebSocketError.self) { try await attempt.value }
            #expect(error?.timeline?.requests == 1)
        }
    }

    @Test("A bearer token is asked for anew for every request")
    func bearer() async throws {
        let source = Source()
        let authentication = WebSocketAuthentication.bearer { await source.next() }
        for number in 1...2 {
            try await request(authentication) { head, _, _, _ in
                #expect(head.contains("\r\nAuthorization: Bearer token-\(number)\r\n"))
            }
        }
        // Also behind a redirect on the same server.
        try await withIncoming { url, accept in
            var options = WebSocketOptions()
            options.redirects = 1
            options.authentication = authentication
            let attempt = Task { [options] in try await WebSocket.connect(to: url, options: options) }
            let first = try await accept()
            #expect(try await first.readHead().contains("Bearer token-3"))
            try await first.send("HTTP/1.1 307 x\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n")
            let second = try await accept()
            let head = try await second.acceptWebSocket()
            #expect(head.hasPrefix("GET /next ") && head.contains("Bearer token-4"))
            _ = try await attempt.value
        }
    }

    private actor Source {
        private var count = 0

        func next() -> String {
            count += 1
            return "token-\(count)"
        }
    }

    @Test("A token that can't be had, or that is none, is an error before anything is connected")
    func noToken() async {
        struct Failure: Error {}
        var options = WebSocketOptions()
        // It is asked within the time of the attempt, of which many tests at once may take a lot.
        options.connectTimeout = .seconds(300)
        options.authentication = .bearer { throw Failure() }
        let failed = await failure(of: "ws://127.0.0.1:1/", options)
        #expect(failed?.cause is Failure)
        #expect(failed?.stage == .request)
        options.authentication = .bearer { "a\r\nb" }
        let malformed = await failure(of: "ws://127.0.0.1:1/", options)
        #expect(malformed?.code == .invalidRequest)
    }
}

@Suite(.timeLimit(minutes: 1)) struct WebSocketOriginTests {
    @Test(
        "The origin of a URL has the scheme of pages, the host, and the port if it isn't the scheme's",
        arguments: [
            ("ws://example.com/chat", "http://example.com"), ("wss://Example.com:443/chat?a", "https://example.com"),
            ("wss://me:pw@example.com:8443", "https://example.com:8443"), ("ws://[::1]:80/", "http://[::1]"),
        ]
    )
    func ofURL(url: String, origin: String) throws {
        #expect(try WebSocketOrigin.ofURL.value(for: WebSocketURL(url)) == origin)
    }

    @Test("A text is sent as it is, and a field of the caller's takes its place")
    func headers() throws {
        let url = try WebSocketURL("wss://example.com/")
        var options = WebSocketOptions()
        #expect(options.origin == nil)
        options.origin = "https://page.example"
        var plan = HandshakePlan(url, options)
        #expect(plan.headers(token: nil)[.origin] == "https://page.example")
        options.origin = .ofURL
        plan = HandshakePlan(url, options)
        #expect(plan.headers(token: nil)[.origin] == "https://example.com")
        options.headers[.origin] = "null"
        plan = HandshakePlan(url, options)
        #expect(plan.headers(token: nil)[.origin] == "null")
    }

    @Test("A refusal with 403 says so if no origin was sent, and blames the origin if one was")
    func refused() async throws {
        try await withIncoming { url, incoming in
            for origin in [nil, WebSocketOrigin.ofURL] {
                var options = WebSocketOptions()
                options.origin = origin
                async let error = failure(of: url, options)
                let peer = try await incoming()
                let head = try await peer.readHead()
                #expect(head.contains("Origin: http://127.0.0.1:\(incoming.port)") == (origin != nil))
                try await peer.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                let hint = await error?.hint
                #expect(hint?.contains("no Origin was sent") == (origin == nil))
                #expect(hint?.contains("see WebSocketOptions.origin") == (origin == nil))
                #expect(hint?.contains("may not allow the Origin") == (origin != nil))
                await peer.reset()
            }
        }
    }
}
