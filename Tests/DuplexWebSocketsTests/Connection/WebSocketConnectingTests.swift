// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Testing

@Suite struct WebSocketConnectingTests {
    @Test(
        "A URL that can't be connected to is an error that says why, before anything is connected",
        arguments: [
            ("", WebSocketError.Code.invalidURL), ("localhost", .invalidURL), ("ftp://localhost/", .invalidURL),
            ("ws://", .invalidURL), ("ws://localhost:99999/", .invalidURL), ("ws://localhost/#part", .invalidURL),
            ("ws://local host/", .invalidURL),
        ]
    )
    func invalidURL(url: String, code: WebSocketError.Code) async {
        await expect(code) { try await WebSocket.connect(to: url) }
    }

    @Test("wss: is secured, and a server that isn't trusted can't be reached")
    func secured() async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.tls = TLSServerOptions.patient(identity)
        server.webSocket("/") { socket in for try await message in socket.messages { try await socket.send(message) } }
        try await server.withRunning { address in
            let url = "wss://localhost:\(address.port)/"
            var options = WebSocketOptions()
            options.tls.trust = .roots(identity.certificates)
            let socket = try await WebSocket.connect(to: url, options: options)
            try await socket.send("hello")
            #expect(try await socket.receive() == .text("hello"))
            await socket.close()
            await #expect {
                try await WebSocket.connect(to: url)
            } throws: {
                let error = $0 as? WebSocketError
                return error?.code == .cannotConnect && (error?.cause as? SocketError)?.code == .untrustedPeer
            }
        }
    }

    @Test("ws: at a port that has TLS is refused with 400, and the hint is to use wss")
    func withoutTLS() async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.tls = TLSServerOptions(try TLSIdentity.selfSigned(for: ["localhost"]))
        server.webSocket("/") { _ in }
        try await server.withRunning { address in
            let error = await #expect(throws: WebSocketError.self) {
                try await WebSocket.connect(to: "ws://localhost:\(address.port)/")
            }
            #expect(error?.handshake?.status == .badRequest)
            #expect(error?.handshake?.hint == "the port speaks TLS: use wss")
        }
    }

    @Test("Each side sees the certificates of the other", arguments: [false, true])
    func certificates(showsOwn: Bool) async throws {
        let (identity, own) = (try TLSIdentity.selfSigned(for: ["localhost"]), try TLSIdentity.selfSigned(for: ["me"]))
        var server = WebServer(host: "127.0.0.1", port: 0)
        var tls = TLSServerOptions.patient(identity)
        tls.clientCertificates = .requested(.roots(own.certificates))
        server.tls = tls
        server.webSocket("/") { socket in
            let names = socket.peerCertificates.flatMap(\.names)
            try await socket.send("\(socket.tls?.version == .tls13) \(names)")
            for try await _ in socket.messages {}
        }
        try await server.withRunning { address in
            var options = WebSocketOptions()
            options.tls.trust = .roots(identity.certificates)
            if showsOwn { options.tls.identity = own }
            let socket = try await WebSocket.connect(to: "wss://localhost:\(address.port)/", options: options)
            #expect(try await socket.receive() == (showsOwn ? "true [\"me\"]" : "true []"))
            #expect(await socket.peerCertificates == identity.certificates)
            await socket.close()
            #expect(await socket.tls == nil)
            #expect(await socket.peerCertificates.isEmpty)
        }
        try await withPair { client, server in
            #expect(await client.tls == nil)
            #expect(await server.peerCertificates.isEmpty)
        }
    }

    @Test("The fields of the answer are there on the client's side, all of them, and none on the server's")
    func responseHeaders() async throws {
        try await withListener { url, accept in
            async let connected = WebSocket.connect(to: url)
            let peer = try await accept()
            try await peer.acceptWebSocket(headers: "X-Version: 7", "Set-Cookie: a=1", "Set-Cookie: b=2")
            let headers = try #require(try await connected.responseHeaders)
            let version = try #require(HTTPField.Name("X-Version"))
            #expect(headers[version] == "7")
            #expect(headers[values: .setCookie] == ["a=1", "b=2"])
            #expect(headers[.upgrade] == "websocket")
        }
        try await withPair { client, server in
            #expect(await client.responseHeaders?[.connection] != nil)
            #expect(await server.responseHeaders == nil)
        }
    }

    @Test("Folded fields of the answer are unfolded")
    func foldedFields() async throws {
        try await withListener { url, accept in
            async let connected = WebSocket.connect(to: url)
            let peer = try await accept()
            try await peer.acceptWebSocket(headers: "X-Version: 7\r\n 8\r\n\t9", "Set-Cookie:\r\n a=1")
            let headers = try #require(try await connected.responseHeaders)
            let version = try #require(HTTPField.Name("X-Version"))
            #expect(headers[version] == "7 8 9" && headers[.setCookie] == "a=1")
        }
    }

    @Test("A request that may not be sent is an error before anything is connected")
    func invalidRequest() async {
        var options = WebSocketOptions()
        options.subprotocols = ["not a token"]
        await expect(.invalidRequest) { [options] in
            try await WebSocket.connect(to: "ws://127.0.0.1:1/", options: options)
        }
        options = WebSocketOptions()
        options.headers[.upgrade] = "something"
        await expect(.invalidRequest) { [options] in
            try await WebSocket.connect(to: "ws://127.0.0.1:1/", options: options)
        }
    }

    @Test("A server that nobody runs can't be reached, and the cause says so")
    func nobodyListens() async throws {
        try await withReservedPort { address in
            await #expect {
                try await WebSocket.connect(to: "ws://\(address)/")
            } throws: {
                let error = $0 as? WebSocketError
                return error?.code == .cannotConnect && (error?.cause as? SocketError)?.code == .cannotConnect
            }
        }
    }

    @Test("A host that has no address can't be reached")
    func unknownHost() async {
        await #expect {
            try await WebSocket.connect(to: "ws://no-such-host.invalid/")
        } throws: {
            let error = $0 as? WebSocketError
            return error?.code == .cannotConnect && (error?.cause as? SocketError)?.code == .unknownHost
        }
    }

    @Test("A server that accepts and stays silent times out, and its connection is reset")
    func silentServer() async throws {
        try await withListener { url, accept in
            var options = WebSocketOptions()
            options.connectTimeout = .milliseconds(50)
            let attempt = Task { [options] in try await WebSocket.connect(to: url, options: options) }
            let peer = try await accept()
            await expect(.timedOut) { try await attempt.value }
            // The request, unless the time was over before there was a connection to send it on.
            _ = try? await peer.readHead()
            #expect(await peer.isOver())
        }
    }

    @Test("Cancelling ends the attempt at once, and the connection with it")
    func cancelled() async throws {
        try await withListener { url, accept in
            let attempt = Task { try await WebSocket.connect(to: url) }
            let peer = try await accept()
            _ = try await peer.readHead()
            attempt.cancel()
            await #expect(throws: CancellationError.self) { try await attempt.value }
            #expect(await peer.isOver())
        }
    }

    @Test("Cancelling at any moment ends the attempt, and a connection that was made nonetheless can be used")
    func cancelledAnyTime() async throws {
        try await withServer { server in
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            for round in 0..<100 {
                let attempt = Task { try await WebSocket.connect(to: "ws://\(address)/") }
                for _ in 0..<(round * 3) { await Task.yield() }
                attempt.cancel()
                switch await attempt.result {
                case .failure(let error): #expect(error is CancellationError)
                case .success(let socket):
                    try await socket.send("made")
                    #expect(try await socket.receive() == "made")
                }
            }
        }
    }

    @Test("A connection by name reaches the server on whichever address it listens")
    func localhost() async throws {
        var server = WebServer(port: 0)
        server.webSocket("/") { socket in try await socket.send("here") }
        let message = try await server.withRunning { address in
            try await WebSocket.connect(to: "ws://localhost:\(address.port)/").receive()
        }
        #expect(message == "here")
    }

    // MARK: withConnection

    @Test("withConnection closes with 1000 when its body returns, and returns what it returned")
    func bodyReturns() async throws {
        try await withListener { url, accept in
            let task = Task {
                try await WebSocket.withConnection(to: url) { socket in
                    try await socket.send("hello")
                    return try await socket.receive()
                }
            }
            let peer = try await accept()
            try await peer.acceptWebSocket()
            #expect(try await peer.readFrame().text == "hello")
            try await peer.send(.text("there"))
            #expect(try await peer.readFrame().closeCode == 1_000)
            try await peer.send(.close(1_000))
            await peer.close()
            #expect(try await task.value == "there")
        }
    }

    @Test("withConnection closes with 1011 when its body throws, and throws the same")
    func bodyThrows() async throws {
        struct Failure: Error {}
        try await withListener { url, accept in
            let task = Task { try await WebSocket.withConnection(to: url) { _ in throw Failure() } }
            let peer = try await accept()
            try await peer.acceptWebSocket()
            #expect(try await peer.readFrame().closeCode == 1_011)
            try await peer.send(.close(1_011))
            await peer.close()
            await #expect(throws: Failure.self) { try await task.value }
        }
    }

    @Test("withConnection closes with 1001 when it is cancelled")
    func bodyCancelled() async throws {
        try await withListener { url, accept in
            let task = Task { try await WebSocket.withConnection(to: url) { socket in try await socket.receive() } }
            let peer = try await accept()
            try await peer.acceptWebSocket()
            try await peer.send(.ping([1]))
            _ = try await peer.readFrame()
            task.cancel()
            #expect(try await peer.readFrame().closeCode == 1_001)
            try await peer.send(.close(1_001))
            await peer.close()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }
}
