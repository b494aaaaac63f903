// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexSockets
@testable import DuplexWebSockets

@Suite struct WebSocketOptionsTests {
    @Test("The defaults are the documented ones")
    func defaults() {
        let options = WebSocketOptions()
        #expect(options.subprotocols.isEmpty)
        #expect(options.headers.isEmpty)
        #expect(options.limits == .internet)
        #expect(options.keepalive == .every(.seconds(20), timeout: .seconds(20)))
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
            let request = try await peer.acceptWebSocket(fields: "Sec-WebSocket-Protocol: chat.v1")
            #expect(request.hasPrefix("GET /room?id=7 HTTP/1.1\r\n"))
            #expect(request.contains("\r\nSec-WebSocket-Protocol: chat.v2, chat.v1\r\n"))
            #expect(request.contains("\r\nAuthorization: Bearer secret\r\n"))
            #expect(try await connected.subprotocol == "chat.v1")
        }
    }

    @Test("How the connection below is made and what stands beside it are one: each is set by the other")
    func connecting() {
        var options = WebSocketOptions()
        #expect(options.connecting.timeout == .seconds(10) && options.tls.applicationProtocols == ["http/1.1"])
        #expect(options.connecting.attemptDelay == .milliseconds(250) && options.connecting.families == .all)
        #expect(options.connecting.preference == .ipv6 && options.connecting.socketOptions == SocketOptions())
        options.connectTimeout = .seconds(3)
        options.tls.serverName = "a.example"
        options.resolver = FixedResolver([:])
        #expect(options.connecting.timeout == .seconds(3) && options.connecting.tls.serverName == "a.example")
        #expect(options.connecting.resolver is FixedResolver)
        options.connecting.timeout = .seconds(4)
        options.connecting.tls.serverName = "b.example"
        #expect(options.connectTimeout == .seconds(4) && options.tls.serverName == "b.example")
    }

    /// Options whose connections can be told from others by the system.
    private static func marked() -> WebSocketOptions {
        var options = WebSocketOptions()
        options.connecting.localAddress = .address("127.0.0.5")
        options.connecting.socketOptions.keepalive = .after(.seconds(77), interval: .seconds(7), count: 3)
        options.connecting.socketOptions.trafficClass = 0x28
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
            options.connecting.localPort = address.port
            options.connecting.localAddress = .address("127.0.0.5")
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
            options.resolver = try FixedResolver(literals: ["both.example": ["::1", "127.0.0.1"]])
            options.connecting.families = isServed ? .ipv4 : .ipv6
            let attempt = Task { [options] in
                try await WebSocket.connect(to: "ws://both.example:\(port)/", options: options)
            }
            guard isServed else {
                await expect(.cannotConnect) { try await attempt.value }
                options.connecting.families = []
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

    @Test("The keepalive pings on its interval")
    func keepalive() async throws {
        var options = WebSocketOptions()
        options.keepalive = .every(.milliseconds(10), timeout: .seconds(20))
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
