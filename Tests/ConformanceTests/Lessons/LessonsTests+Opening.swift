// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Testing

// What others have paid for on the way to an open connection.

extension LessonsTests {
    private static func redirect(to location: String) -> Response {
        var response = Response(.found)
        response.headers[.location] = location
        return response
    }

    @Test("A redirect to another server takes no credentials along")
    func redirectElsewhere() async throws {
        try await withListener { url, acceptFirst in
            try await withListener { target, acceptSecond in
                var options = WebSocketOptions()
                options.redirects = 1
                options.headers[.cookie] = "session=secret"
                options.headers[.proxyAuthorization] = "Basic secret"
                let start = url.replacing("ws://", with: "ws://mia-herself:pw@")
                let attempt = Task { [options] in try await WebSocket.connect(to: start, options: options.patient) }
                let first = try await acceptFirst()
                #expect(try await first.readHead().contains("session=secret"))
                try await first.send("HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n")
                let second = try await acceptSecond()
                let request = try await second.acceptWebSocket().lowercased()
                for secret in ["authorization", "cookie", "secret", "mia-h"] { #expect(!request.contains(secret)) }
                _ = try await attempt.value
                for peer in [first, second] { await peer.reset() }
            }
        }
    }

    @Test("A redirect from TLS to a connection without it isn't followed")
    func redirectOutOfTLS() async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        try await withServer { server in
            server.webSocket("/") { _ in Issue.record("It was followed.") }
        } _: { plain in
            try await withServer { server in
                server.tls = TLSServerOptions.patient(identity)
                server.get("/") { _ in Self.redirect(to: "ws://\(plain)/") }
            } _: { address in
                var options = WebSocketOptions()
                options.redirects = 3
                options.tls.trust = .roots(identity.certificates)
                let url = "wss://localhost:\(address.port)/"
                let attempt = Task { [options] in try await WebSocket.connect(to: url, options: options.patient) }
                guard case .failure(let error) = await attempt.result else {
                    Issue.record("It came to a connection.")
                    return
                }
                #expect((error as? WebSocketError)?.status?.code == 302)
                #expect((error as? WebSocketError)?.hint?.contains("from TLS") == true)
            }
        }
    }

    @Test("What the client sends with its request, and the server with its answer, is the first to be received")
    func firstMessages() async throws {
        try await withServer { server in
            server.webSocket("/") { socket in
                // The server speaks before it reads.
                try await socket.send("first")
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let frames = (0..<100).flatMap { peer.encoded(.text("\($0)")) }
            try await peer.send(Array(RawPeer.upgradeRequest().utf8) + frames)
            #expect(try await peer.readResponse().status == 101)
            #expect(try await peer.readFrame().text == "first")
            for number in 0..<100 { #expect(try await peer.readFrame().text == "\(number)") }
            await peer.close()
        }
        try await withClient(followedBy: (0..<100).map { .text("\($0)") }) { socket, _ in
            for number in 0..<100 {
                let message = try await socket.receive()
                #expect(message == .text("\(number)"))
            }
        }
    }

    /// The waits on the server's way to an open WebSocket.
    enum Wait: CaseIterable {
        case head
        case decision
        case handler
    }

    @Test(
        "A client that goes, and one that is cancelled, at any wait on the way to an open connection disturb nobody",
        arguments: Wait.allCases,
        [true, false]
    )
    func leavingOnTheWay(wait: Wait, isReset: Bool) async throws {
        let (gate, gateKeeper) = AsyncStream<Never>.makeStream()
        let (arrivals, arrive) = AsyncStream<Void>.makeStream()
        try await withServer { server in
            server.webSocket("/decision") { _ in
                arrive.yield()
                for await _ in gate {}
                return .accepted
            } handler: { socket, _ in
                try await socket.send("too late")
            }
            server.webSocket("/handler") { socket in
                arrive.yield()
                for await _ in gate {}
                for _ in 0..<10 { try await socket.send("too late") }
            }
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            let request = Array(RawPeer.upgradeRequest(wait == .handler ? "/handler" : "/decision").utf8)
            let peer = try await RawPeer.connect(to: address)
            try await peer.send(wait == .head ? Array(request.dropLast(2)) : request)
            if wait != .head { for await _ in arrivals { break } }
            if isReset { await peer.reset() } else { await peer.finishWriting() }
            // Whoever comes later is served as if nothing had been, before and after the wait has ended.
            let before = try await RawPeer.openWebSocket(to: address)
            try await before.expectEcho()
            gateKeeper.finish()
            try await before.expectEcho()
            let after = try await RawPeer.openWebSocket(to: address)
            try await after.expectEcho()
            for peer in [before, after] { await peer.close() }
            if !isReset { await peer.reset() }
        }
    }

    @Test("A server that ends while the app decides answers 503 and ends")
    func endingWhileDeciding() async throws {
        try await withMemoryServer { server in
            server.webSocket("/") { _ in
                let (never, continuation) = AsyncStream<Never>.makeStream()
                defer { continuation.finish() }
                for await _ in never {}
                try Task.checkCancellation()
                return .accepted
            } handler: { _, _ in
                Issue.record("It was opened.")
            }
        } _: { server in
            let peer = await server.connect()
            try await peer.send(RawPeer.upgradeRequest())
            await server.loop.settle()
            await server.beginToEnd()
            // The peer doesn't end its side: that the server has ended all the same is why this test goes on.
            #expect(try await peer.readResponse().status == 503)
        }
    }
}
