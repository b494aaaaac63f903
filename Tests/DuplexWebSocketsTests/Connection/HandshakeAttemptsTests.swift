// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexWebSockets

@Suite("The requests that lead to one WebSocket")
struct HandshakeAttemptsTests {
    private static let patience = Duration.seconds(20)

    @Test("Redirects are followed when asked to, to other servers without secrets")
    func redirects() async throws {
        try await withIncoming { first, acceptFirst in
            try await withIncoming { second, acceptSecond in
                var options = WebSocketOptions()
                options.redirects = 2
                options.headers[.authorization] = "secret"
                options.headers[.cookie] = "a=b"
                options.origin = "https://o.example"
                let attempt = Task { [options] in try await WebSocket.connect(to: first + "x", options: options) }
                let one = try await acceptFirst()
                #expect(try await one.readHead().contains("Authorization: secret"))
                let location = second.replacing("ws://", with: "http://") + "y"
                try await one.send("HTTP/1.1 302 x\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
                let two = try await acceptSecond()
                let head = try await two.acceptWebSocket(followedBy: [.text("here")])
                #expect(head.hasPrefix("GET /y HTTP/1.1\r\n"))
                #expect(head.contains("\r\nOrigin: https://o.example\r\n"))
                #expect(!head.contains("secret") && !head.contains("Cookie"))
                #expect(try await attempt.value.receive() == "here")
                #expect(await one.isOver())
            }
        }
    }

    @Test("Redirects in a circle end at the limit, and none is followed unless asked for")
    func circle() async throws {
        try await withIncoming { url, accept in
            let answer = "HTTP/1.1 308 x\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"
            for limit in [0, 3] {
                var options = WebSocketOptions()
                options.redirects = limit
                let attempt = Task { [options] in try await WebSocket.connect(to: url, options: options) }
                for _ in 0...limit {
                    let peer = try await accept()
                    _ = try await peer.readHead()
                    try await peer.send(answer)
                    #expect(await peer.isOver())
                }
                let error = await #expect(throws: WebSocketError.self) { try await attempt.value }
                #expect(error?.status?.code == 308)
                #expect(error?.timeline?.requests == limit + 1)
                #expect(error?.hint?.contains(limit == 0 ? "redirects to" : "no more may be") == true)
                #expect(error?.hint?.hasSuffix(": see WebSocketOptions.redirects") == (limit == 0))
            }
        }
    }

    @Test("One deadline is for all requests together")
    func deadline() async throws {
        try await withIncoming { url, accept in
            var options = WebSocketOptions()
            options.redirects = 1_000_000
            options.connectTimeout = .milliseconds(100)
            let attempt = Task { [options] in try await WebSocket.connect(to: url, options: options) }
            let answering = Task {
                while let peer = try? await accept() {
                    _ = try? await peer.readHead()
                    try? await peer.send("HTTP/1.1 302 x\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")
                }
            }
            await expect(.timedOut) { try await attempt.value }
            answering.cancel()
            await answering.value
        }
    }

    @Test("Cookies that a server sets go back to it with the next connection, and a field of one's own goes first")
    func cookies() async throws {
        let jar = CookieJar()
        var options = WebSocketOptions()
        options.cookies = jar
        try await withIncoming { [options] url, accept in
            for round in 0..<3 {
                var options = options
                if round == 2 { options.headers[.cookie] = "own=1" }
                let attempt = Task { [options] in try await WebSocket.connect(to: url, options: options) }
                let peer = try await accept()
                let head = try await peer.acceptWebSocket(headers: "Set-Cookie: s=1; Path=/", "Set-Cookie: t=2")
                let expected = ["", "\r\nCookie: s=1; t=2\r\n", "\r\nCookie: own=1\r\n"][round]
                #expect(expected.isEmpty ? !head.contains("Cookie") : head.contains(expected))
                #expect(head.split(separator: "Cookie:").count == (round == 0 ? 1 : 2))
                _ = try await attempt.value
                await peer.reset()
            }
        }
    }

    @Test("Origin and User-Agent go out, once")
    func names() async throws {
        try await withIncoming { url, accept in
            var options = WebSocketOptions()
            options.origin = "https://example.com"
            options.userAgent = "ours/1"
            options.headers[.userAgent] = "theirs/2"
            let attempt = Task { [options] in try await WebSocket.connect(to: url, options: options) }
            let peer = try await accept()
            let head = try await peer.acceptWebSocket()
            #expect(head.contains("\r\nOrigin: https://example.com\r\n"))
            #expect(head.contains("\r\nUser-Agent: theirs/2\r\n") && !head.contains("ours/1"))
            _ = try await attempt.value
            // Dropped any earlier, it would have reset the connection.
            await peer.reset()
        }
    }

    @Test("A server on a Unix socket is reached by ws+unix:")
    func unix() async throws {
        let path = "/tmp/duplex-ws-\(UInt64.random(in: 0 ... .max)).sock"
        let listener = try SocketListener.bind(.unix(path))
        var iterator = listener.makeAsyncIterator()
        let attempt = Task { try await WebSocket.connect(to: "ws+unix:\(path):/chat?x=1") }
        let socket = try #require(try await iterator.next())
        let peer = RawPeer(socket, masks: false)
        let head = try await peer.acceptWebSocket(followedBy: [.text("here")])
        #expect(head.hasPrefix("GET /chat?x=1 HTTP/1.1\r\nHost: localhost\r\n"))
        #expect(try await attempt.value.receive() == "here")
        await peer.reset()
        await listener.close()
        let error = await failure(of: "ws+unix:/nowhere/at/all.sock")
        #expect(error?.code == .cannotConnect)
        #expect(error?.stage == .connecting)
    }

    @Test("A password in a URL that can't be read isn't shown")
    func password() async {
        let error = await failure(of: "ws://user:sesame@host:port/")
        #expect(error?.description.contains("sesame") == false)
    }

    @Test("An error tells how far the attempt came")
    func stages() async throws {
        let unknown = await failure(of: "ws://no-such-host.invalid/")
        #expect(unknown?.stage == .nameLookup)
        try await withReservedPort { address in
            let refused = await failure(of: "ws://\(address)/")
            #expect(refused?.stage == .connecting)
            #expect(refused?.timeline?.connecting?.attempts.count == 1)
        }
    }

    @Test("Everything at once: a real server behind a proxy that relays")
    func relayed() async throws {
        try await withServer { server in
            server.webSocket("/echo") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            try await withIncoming { url, accept in
                var options = WebSocketOptions()
                options.proxy = .http("127.0.0.1", port: try WebSocketURL(url).port)
                let attempt = Task { [options] in
                    try await WebSocket.connect(to: "ws://server.test/echo", options: options)
                }
                let near = try await accept()
                #expect(try await near.readHead().hasPrefix("CONNECT server.test:80 HTTP/1.1"))
                let far = try await Socket.connect(to: .address(address))
                try await near.send("HTTP/1.1 200 OK\r\n\r\n")
                async let up: Void = Self.relay(near.socket, far)
                async let down: Void = Self.relay(far, near.socket)
                let socket = try await attempt.value
                try await socket.send(String(repeating: "x", count: 100_000))
                #expect(try await socket.receive() == .text(String(repeating: "x", count: 100_000)))
                let report = await socket.close()
                #expect(report.isClean)
                await near.reset()
                await far.reset()
                _ = await (up, down)
            }
        }
    }

    private static func relay(_ from: Socket, _ to: Socket) async {
        while let bytes = try? await from.read(timeout: patience) {
            guard (try? await to.write(bytes)) != nil else { return }
        }
        await to.finishWriting()
    }
}

@Suite("What is known of an attempt so far")
struct HandshakeProgressTests {
    @Test("Its timeline has what was reached, and the time up to now")
    func timeline() {
        let progress = HandshakeProgress(began: .now(), requests: 3)
        let early = progress.timeline(.nameLookup)
        #expect(early.stage == .nameLookup && early.requests == 3 && early.connecting == nil && early.security == nil)
        let connecting = ConnectTimeline(nameLookup: .milliseconds(1), attempts: [], total: .milliseconds(2))
        let later = progress.connected(connecting, nil).timeline(.upgrade, upgrade: .milliseconds(5))
        #expect(later.connecting == connecting && later.upgrade == .milliseconds(5) && later.began == early.began)
        #expect(later.total >= early.total && early.total >= .zero)
    }
}
