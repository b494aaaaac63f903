// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTesting
import DuplexWebSockets
import Foundation
import Glibc
import Testing

@testable import DuplexServer

@Suite struct RequestConnectionTests {
    @Test("It is the same for all requests of a connection, with the address of the peer and no TLS in the clear")
    func shared() async throws {
        let (clients, tell) = AsyncStream<Request.Connection>.makeStream()
        try await withServer { server in
            server.get("/") { request in
                tell.yield(request.connection)
                return "\(request.tls == nil)"
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            for _ in 0..<2 { #expect(try await peer.response(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n").text == "true") }
            var iterator = clients.makeAsyncIterator()
            let first = await iterator.next()
            let second = await iterator.next()
            #expect(first === second && first?.remoteAddress == peer.socket.localAddress)
        }
    }

    @Test("A handler that waits by its client's time waits by that of the test, and no longer than its client is there")
    func sleeping() async throws {
        let (ends, end) = AsyncStream<Bool>.makeStream()
        var server = WebServer(port: 0)
        server.get("/hour") { request in
            try await request.connection.sleep(for: .seconds(3_600))
            return "an hour later"
        }
        server.get("/gone") { request in
            do { try await request.connection.sleep(for: .seconds(3_600)) } catch {
                end.yield(error is CancellationError)
            }
            return ""
        }
        server.get("/now") { request in
            try await request.connection.sleep(for: .seconds(-1))
            return "at once"
        }
        try await server.test { client async throws in
            let hour = await client.connect()
            try await hour.send(.get, "/hour")
            await client.clock.advance(by: .seconds(3_600))
            #expect(try await hour.response().text == "an hour later")
            #expect(try await client.get("/now").text == "at once")

            let gone = await client.connect()
            try await gone.send(.get, "/gone")
            await client.loop.settle()
            await gone.reset()
            #expect(await ends.first { _ in true } == true)
        }
    }

    // MARK: Processes

    private static func who(_ peer: PeerCredentials?) -> String {
        guard let peer else { return "nobody" }
        return "\(peer.userID) \(peer.groupID) \(peer.processID.map { "\($0)" } ?? "?")"
    }

    @Test("Requests and WebSockets by a Unix socket know the client's process, and those by TCP none")
    func processes() async throws {
        let routes: @Sendable (inout WebServer) -> Void = { server in
            server.get("/") { request in Self.who(request.peerCredentials) }
            server.webSocket("/socket") { socket, request in
                try await socket.send(Self.who(socket.peerCredentials) + ", " + Self.who(request.peerCredentials))
                for try await _ in socket.messages {}
            }
        }
        try await withTestFolder { folder in
            let path = folder + "socket"
            let own = "\(geteuid()) \(getegid()) \(getpid())"
            try await withServer { server in
                routes(&server)
                server.listener.address = .unix(path)
            } _: { address in
                let peer = try await RawPeer.connect(to: address)
                #expect(try await peer.response(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n").text == own)
                await peer.close()
                let socket = try await WebSocket.connect(to: "ws+unix:\(path):/socket")
                #expect(try await socket.receive() == .text("\(own), \(own)"))
                #expect(await socket.peerCredentials.map { Self.who($0) } == own)
                await socket.close()
            }
        }
        try await withServer(routes) { address in
            let peer = try await RawPeer.connect(to: address)
            #expect(try await peer.response(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n").text == "nobody")
            await peer.close()
        }
    }

    @Test(
        "The request of curl that another user runs has the number and group of that user",
        .enabled(if: geteuid() == 0, "Only root can start a process of another user.")
    )
    func otherUser() async throws {
        try await withTestFolder { folder in
            #expect(unsafe chmod(folder, 0o711) == 0)
            let path = folder + "socket"
            try await withServer { server in
                server.get("/") { request in Self.who(request.peerCredentials) }
                server.listener.address = .unix(path, permissions: 0o666)
            } _: { _ in
                let user = ["setpriv", "--reuid=12345", "--regid=23456", "--clear-groups"]
                let curl = ["curl", "--silent", "--show-error", "--unix-socket", path, "http://localhost/"]
                let run = try await ProgramRun(user + curl)
                #expect(run.status == 0 && run.text.hasPrefix("12345 23456 "), "\(run.text)")
                #expect(!run.text.hasSuffix(" \(getpid())"))
            }
        }
    }

    // MARK: Certificates

    private static let server = Result { try TLSIdentity.selfSigned(for: ["localhost"]) }
    private static let own = Result { try TLSIdentity.selfSigned(for: ["ada.test"]) }

    private static func names(_ tls: TLSInfo?) -> String {
        guard let tls else { return "in the clear" }
        return tls.peerCertificates.isEmpty ? "nobody" : tls.peerCertificates[0].names.joined(separator: " ")
    }

    /// Runs a server with TLS that tells its clients who they are.
    private func withSecured(
        isRequired: Bool,
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        var tls = TLSServerOptions(try Self.server.get())
        let trust = TLSTrust.roots(try Self.own.get().certificates)
        tls.clientCertificates = isRequired ? .required(trust) : .requested(trust)
        try await withServer { server in
            server.tls = tls
            Self.addRoutes(to: &server)
        } _: { address in
            try await body(address.port)
        }
    }

    private static func addRoutes(to server: inout WebServer) {
        server.get("/") { request in names(request.tls) }
        server.post("/task") { request in names(request.tls) }
        server.webSocket("/socket") { socket, request in
            try await socket.send(names(request.tls) + ", " + names(socket.tls))
        }
        server.webSocket("/members", admit: admit) { socket, _, certificates in
            try await socket.send(certificates[0].names.joined(separator: " "))
        }
    }

    /// Lets in who shows a certificate.
    @Sendable private static func admit(_ request: Request) -> Admission<[TLSCertificate]> {
        guard let certificates = request.tls?.peerCertificates, !certificates.isEmpty else {
            return .refused(.unauthorized, "Show a certificate.")
        }
        return .accepted(certificates)
    }

    private static func tls(_ showsOwn: Bool) throws -> TLSOptions {
        var options = TLSOptions()
        options.trust = .roots(try server.get().certificates)
        if showsOwn { options.identity = try own.get() }
        return options
    }

    private static func request(_ method: String, _ path: String, _ port: Int, showsOwn: Bool) async throws -> String {
        var options = ConnectOptions()
        options.tls = try tls(showsOwn)
        let socket = try await Socket.connect(to: .tls("localhost", port: port), options: options)
        let peer = RawPeer(socket, masks: true)
        let head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
        let text = try await peer.response(to: head).text
        await peer.close()
        return text
    }

    private static func greeting(_ path: String, _ port: Int, showsOwn: Bool) async throws -> Message {
        var options = WebSocketOptions()
        options.tls = try tls(showsOwn)
        let socket = try await WebSocket.connect(to: "wss://localhost:\(port)\(path)", options: options)
        let message = try await socket.receive()
        await socket.close()
        return message
    }

    @Test("What a client shows is seen by requests, by WebSockets and by admissions", arguments: [true, false])
    func certificates(isRequired: Bool) async throws {
        try await withSecured(isRequired: isRequired) { port in
            let now = try await Self.request("GET", "/", port, showsOwn: true)
            let inTask = try await Self.request("POST", "/task", port, showsOwn: true)
            let socket = try await Self.greeting("/socket", port, showsOwn: true)
            let member = try await Self.greeting("/members", port, showsOwn: true)
            #expect(now == "ada.test" && inTask == "ada.test")
            #expect(socket == "ada.test, ada.test" && member == "ada.test")
        }
    }

    @Test("Who shows nothing where a certificate is asked for is let in, and left to the app")
    func none() async throws {
        try await withSecured(isRequired: false) { port in
            let response = try await Self.request("GET", "/", port, showsOwn: false)
            let socket = try await Self.greeting("/socket", port, showsOwn: false)
            #expect(response == "nobody" && socket == "nobody, nobody")
            await #expect {
                _ = try await Self.greeting("/members", port, showsOwn: false)
            } throws: {
                ($0 as? WebSocketError)?.handshake?.status == .unauthorized
            }
        }
    }

    @Test("Who shows nothing comes to no request where a certificate is required")
    func required() async throws {
        try await withSecured(isRequired: true) { port in
            await #expect(throws: (any Error).self) {
                _ = try await Self.request("GET", "/", port, showsOwn: false)
            }
            await #expect(throws: WebSocketError.self) {
                _ = try await Self.greeting("/socket", port, showsOwn: false)
            }
            let response = try await Self.request("GET", "/", port, showsOwn: true)
            #expect(response == "ada.test")
        }
    }
}

@Suite struct EntranceTests {
    @Test("A request tells which address it came by, and each listener answers for its own hosts")
    func addresses() async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.listen(on: Listener(.unix("@duplex-entrance-\(UInt32.random(in: 0 ... .max))")))
        server.get("/") { request in "\(request.connection.listenerAddress?.description ?? "none")" }
        let running = try await server.start()
        for (address, isLocal) in zip(running.addresses, [true, false]) {
            let peer = try await RawPeer.connect(to: address)
            #expect(try await peer.response(to: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").text == "\(address)")
            // A page can lead a name of its own to this machine, but not to a file.
            let other = try await peer.response(to: "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            #expect(other.status == (isLocal ? 421 : 200))
        }
        await running.stop()
    }

    @Test("In a test without a port there is none")
    func none() async throws {
        var server = WebServer(port: 0)
        server.get("/") { request in "\(request.connection.listenerAddress == nil)" }
        try await server.test { client async throws in
            #expect(try await client.get("/").text == "true")
        }
    }
}
