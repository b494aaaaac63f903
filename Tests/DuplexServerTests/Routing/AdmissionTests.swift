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

/// What the app decides on requests for WebSockets.
@Suite(.timeLimit(minutes: 1)) struct AdmissionTests {
    /// Echoes what a request was admitted for.
    private static func echo(_ socket: isolated WebSocket, _ request: Request) async throws {
        for try await message in socket.messages { try await socket.send(message) }
    }

    @Test("A request is looked at before the WebSocket opens, and may take its time; what comes meanwhile isn't lost")
    func accepting() async throws {
        let (gate, gateKeeper) = AsyncStream<Never>.makeStream()
        let (asked, ask) = AsyncStream<String>.makeStream()
        try await withServer { server in
            server.webSocket("/rooms/:id") { request in
                ask.yield(request.parameters["id"] ?? "")
                for await _ in gate {}
                return .accepted(headers: [.setCookie: "a=1", .upgrade: "other", .server: "duplex"])
            } handler: { socket, request in
                try await Self.echo(socket, request)
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            try await peer.send(RawPeer.upgradeRequest("/rooms/7"))
            var iterator = asked.makeAsyncIterator()
            let id = await iterator.next()
            #expect(id == "7")
            // A frame that is sent before the answer has come.
            try await peer.send(.text("early"))
            gateKeeper.finish()
            let response = try await peer.readResponse()
            #expect(response.status == 101)
            #expect(response["Set-Cookie"] == "a=1" && response["Server"] == "duplex")
            #expect(response["Upgrade"] == "websocket" && !response.head.contains("other"))
            let echo = try await peer.readFrame()
            #expect(echo.payload == Array("early".utf8))
            await peer.close()
        }
    }

    @Test("A refusal has any status, fields and body, and the connection stays with HTTP")
    func refusing() async throws {
        try await withServer { server in
            server.get("/") { _ in "still here" }
            server.webSocket("/private") { request in
                if request.headers[.cookie] == "user=1" { return .accepted }
                return .refused(
                    Response(.unauthorized, headers: [.wwwAuthenticate: "Bearer"], body: Array("who?".utf8))
                )
            } handler: { socket, request in
                try await Self.echo(socket, request)
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let refused = try await peer.response(to: RawPeer.upgradeRequest("/private"))
            #expect(refused.status == 401 && refused["WWW-Authenticate"] == "Bearer" && refused.text == "who?")
            let page = try await peer.response(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(page.text == "still here")
            let opened = try await peer.response(to: RawPeer.upgradeRequest("/private", "Cookie: user=1"))
            #expect(opened.status == 101)
            await peer.close()
        }
    }

    @Test("What an admission has found out reaches the handler as a value of its type")
    func value() async throws {
        struct User: Sendable, Equatable {
            var name: String
        }
        try await withServer { server in
            server.webSocket(
                "/rooms/:id",
                admit: { request -> Admission<User> in
                    guard let name = request.headers[.cookie] else { return .refused(.unauthorized, "Please log in.") }
                    return .accepted(User(name: name))
                }
            ) { socket, request, user in
                try await socket.send("\(user.name) in \(request.parameters["id"] ?? "")")
            }
            // The type may stand at the handler instead.
            server.webSocket("/halls/:id") { request in
                guard let name = request.headers[.cookie] else { return .refused(.unauthorized, "Please log in.") }
                return .accepted(User(name: name))
            } handler: { (socket, _, user: User) in
                try await socket.send(user.name)
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            #expect(try await peer.response(to: RawPeer.upgradeRequest("/rooms/7")).status == 401)
            #expect(try await peer.response(to: RawPeer.upgradeRequest("/rooms/7", "Cookie: ada")).status == 101)
            #expect(try await peer.readFrame().text == "ada in 7")
            await peer.close()
            let other = try await RawPeer.connect(to: address)
            #expect(try await other.response(to: RawPeer.upgradeRequest("/halls/7", "Cookie: ada")).status == 101)
            #expect(try await other.readFrame().text == "ada")
            await other.close()
        }
    }

    @Test("A decision may return the value itself, and refuses by what it throws, also after middleware")
    func plainValue() async throws {
        struct User: Sendable {
            var name: String
        }
        struct Expired: ProblemConvertible {
            var problem: Problem { Problem(.forbidden, "The membership has expired.") }
        }
        struct Broken: Error {}
        try await withServer { server in
            for path in ["/rooms/:id", "/behind/:id"] {
                let options = path == "/rooms/:id" ? [] : [RouteOption.before { _ in nil }]
                server.webSocket(
                    path,
                    .all(options),
                    admit: { request in
                        guard let name = request.headers[.cookie] else {
                            throw Problem(.unauthorized, "Please log in.", headers: [.wwwAuthenticate: "Bearer"])
                        }
                        if name == "eve" { throw Expired() }
                        if name == "bug" { throw Broken() }
                        return User(name: name)
                    }
                ) { socket, request, user in
                    try await socket.send("\(user.name) in \(request.parameters["id"] ?? "")")
                }
            }
        } _: { address in
            for path in ["/rooms/7", "/behind/7"] {
                let peer = try await RawPeer.connect(to: address)
                let unknown = try await peer.response(to: RawPeer.upgradeRequest(path))
                #expect(unknown.status == 401 && unknown["WWW-Authenticate"] == "Bearer")
                #expect(unknown.text.contains("Please log in."))
                let expired = try await peer.response(to: RawPeer.upgradeRequest(path, "Cookie: eve"))
                #expect(expired.status == 403 && expired.text.contains("The membership has expired."))
                #expect(try await peer.response(to: RawPeer.upgradeRequest(path, "Cookie: bug")).status == 500)
                #expect(try await peer.response(to: RawPeer.upgradeRequest(path, "Cookie: ada")).status == 101)
                #expect(try await peer.readFrame().text == "ada in 7")
                await peer.close()
            }
        }
    }

    @Test("What a decision throws is answered with 500, and so is a subprotocol that nobody asked for")
    func failing() async throws {
        struct Broken: Error {}
        try await withServer { server in
            server.webSocket("/broken") { _ in
                throw Broken()
            } handler: { socket, request in
                try await Self.echo(socket, request)
            }
            server.webSocket("/chosen") { _ in
                .accepted(subprotocol: "b")
            } handler: { socket, request in
                try await socket.send(socket.subprotocol ?? "none")
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let broken = try await peer.response(to: RawPeer.upgradeRequest("/broken"))
            #expect(broken.status == 500)
            let unasked = try await peer.response(to: RawPeer.upgradeRequest("/chosen", "Sec-WebSocket-Protocol: a"))
            #expect(unasked.status == 500)
            let chosen = try await peer.response(to: RawPeer.upgradeRequest("/chosen", "Sec-WebSocket-Protocol: a, b"))
            #expect(chosen.status == 101 && chosen["Sec-WebSocket-Protocol"] == "b")
            let told = try await peer.readFrame()
            #expect(told.payload == Array("b".utf8))
            await peer.close()
        }
    }

    @Test("The app can decline compression for one client, also where others must have it", arguments: [false, true])
    func declining(isRequired: Bool) async throws {
        try await withServer { server in
            server.webSockets.compression = isRequired ? .required : .enabled
            server.webSocket("/") { request in
                .accepted(compression: request.headers[.userAgent] != "poor")
            } handler: { socket, _ in
                try await socket.send(socket.compression == nil ? "as it is" : "compressed")
            }
        } _: { address in
            for (agent, answer) in [("poor", "as it is"), ("good", nil)] {
                let peer = try await RawPeer.connect(to: address)
                let offer = "Sec-WebSocket-Extensions: permessage-deflate"
                let request = RawPeer.upgradeRequest("/", offer, "User-Agent: \(agent)")
                let response = try await peer.response(to: request)
                #expect(response.status == 101)
                #expect((response["Sec-WebSocket-Extensions"] == nil) == (agent == "poor"))
                let told = try await peer.readFrame()
                #expect((told.reservedBits == 0) == (agent == "poor"))
                if let answer { #expect(told.text == answer) }
                await peer.close()
            }
        }
    }

    @Test("A request that breaks the rules is refused without the app")
    func rules() async throws {
        try await withServer { server in
            server.webSocket("/") { _ in
                Issue.record("The app was asked.")
                return .accepted
            } handler: { socket, request in
                try await Self.echo(socket, request)
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let foreign = try await peer.response(to: RawPeer.upgradeRequest("/", "Origin: http://elsewhere.test"))
            #expect(foreign.status == 403)
            await peer.close()
        }
    }

    @Test("A client that goes away while the app decides disturbs nobody")
    func leaving() async throws {
        let (gate, gateKeeper) = AsyncStream<Never>.makeStream()
        let (asked, ask) = AsyncStream<Void>.makeStream()
        try await withServer { server in
            server.get("/") { _ in "still here" }
            server.webSocket("/slow") { _ in
                ask.yield()
                for await _ in gate {}
                return .accepted
            } handler: { socket, request in
                try await Self.echo(socket, request)
            }
        } _: { address in
            for isReset in [true, false] {
                let peer = try await RawPeer.connect(to: address)
                try await peer.send(RawPeer.upgradeRequest("/slow"))
                var iterator = asked.makeAsyncIterator()
                await iterator.next()
                if isReset { await peer.reset() } else { await peer.finishWriting() }
            }
            gateKeeper.finish()
            let other = try await RawPeer.connect(to: address)
            let page = try await other.response(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(page.text == "still here")
            await other.close()
        }
    }
}

/// How many connections one address may have.
@Suite(.timeLimit(minutes: 1)) struct ConnectionsPerAddressTests {
    @Test("One connection too many from an address is closed at once, others aren't, and one that ends makes room")
    func limit() async throws {
        try await withServer { server in
            server.limits.connectionsPerAddress = 2
            server.listener.proxyProtocol = .required(from: IPNetwork.loopback)
            server.get("/") { _ in "here" }
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            func connect(from host: String) async throws -> RawPeer {
                let peer = try await RawPeer.connect(to: address)
                try await peer.send("PROXY TCP4 \(host) 192.0.2.200 4000 80\r\n")
                return peer
            }
            let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
            let first = try await connect(from: "192.0.2.1")
            #expect(try await first.response(to: get).status == 200)
            // A connection that has become a WebSocket counts as before.
            let second = try await connect(from: "192.0.2.1")
            #expect(try await second.response(to: RawPeer.upgradeRequest()).status == 101)
            let third = try await connect(from: "192.0.2.1")
            #expect(try await third.isAtEnd())
            let other = try await connect(from: "192.0.2.2")
            #expect(try await other.response(to: get).status == 200)
            await second.close()
            await first.close()
            var isIn = false
            while !isIn {
                let next = try await connect(from: "192.0.2.1")
                try await next.send(get)
                isIn = (try? await next.readResponse().status) == 200
                await next.close()
            }
            for peer in [third, other] { await peer.close() }
        }
    }
}

/// Middleware around the decision on a WebSocket; what it notes is in RouteMiddlewareTests.
@Suite struct AdmissionStepsTests {
    @Test("What middleware adds to the answer goes with the 101")
    func headers() async throws {
        var server = WebServer(port: 0)
        server.use(
            .around { request, next in
                var response = try await next(request)
                response.headers[.setCookie] = "a=1"
                return response
            },
            .after { _, response in response.headers[.server] = "test" }
        )
        server.webSocket("/") { _ in }
        try await server.test { client async throws in
            let connection = await client.connect()
            let upgrade = RawPeer.upgradeRequest("/")
            try await connection.send(raw: upgrade)
            let head = try await connection.head()
            #expect(head.status == .switchingProtocols)
            #expect(head.headers[.setCookie] == "a=1" && head.headers[.server] == "test")
            await connection.reset()
        }
    }

    @Test("Middleware sees the decision as a response, and may refuse what the app accepts")
    func around() async throws {
        var server = WebServer(port: 0)
        server.use(
            .around { request, next in
                let response = try await next(request)
                if request.head.query == "late" && response.status == .switchingProtocols {
                    return Response(.tooManyRequests)
                }
                return response
            }
        )
        server.webSocket("/") { socket in try await socket.send("open") }
        try await server.test { client async throws in
            let socket = try await client.webSocket("/")
            #expect(try await socket.receive() == .text("open"))
            await socket.reset()
            let error = await #expect(throws: WebSocketError.self) { try await client.webSocket("/?late") }
            #expect(error?.handshake?.status == .tooManyRequests)
        }
    }
}
