// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexServer
import DuplexSharing
import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexCommand

@Suite("The server of duplex serve", .timeLimit(minutes: 1))
struct DemoServerTests {
    private static func server(_ style: DemoServer.HandlerStyle = .async, echoPath: String = "/echo") -> WebServer {
        var server = WebServer(port: 0)
        DemoServer.addRoutes(to: &server, echoPath: echoPath, style: style)
        return server
    }

    @Test("Every path echoes but the chat room's", arguments: DemoServer.HandlerStyle.allCases)
    func echoes(style: DemoServer.HandlerStyle) async throws {
        try await withServer(Self.server(style, echoPath: "/loud")) { root in
            for path in ["loud", "echo", "", "any/thing"] {
                let socket = try await WebSocket.connect(to: root + path)
                try await socket.send("hi \(path)")
                #expect(try await socket.receive() == .text("hi \(path)"))
                await socket.close()
            }
            let socket = try await WebSocket.connect(to: root + "chat")
            #expect(try await socket.receive() == #"{"people":1}"#)
            await socket.close()
        }
    }

    @Test("What scripts/bench asks for is thirteen bytes of text", arguments: ["hello", "hello/async"])
    func greeting(path: String) async throws {
        try await withServer(Self.server()) { root in
            let port = try #require(root.split { $0 == ":" || $0 == "/" }.last.flatMap { Int($0) })
            let socket = try await Socket.connect(to: .host("localhost", port: port))
            try await socket.write("GET /\(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            var answer = ""
            while let bytes = try await socket.read() { answer += String(decoding: bytes, as: UTF8.self) }
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(answer.contains("Content-Length: 13\r\n"))
            #expect(answer.hasSuffix("\r\n\r\nHello, World!"))
        }
    }

    @Test("Bodies of any length go in, are counted, and come out")
    func bodies() async throws {
        try await withServer(Self.server()) { root in
            let port = try #require(root.split { $0 == ":" || $0 == "/" }.last.flatMap { Int($0) })
            let peer = try await RawPeer.connect(to: SocketAddress("127.0.0.1", port: port))
            // More than the limit of other routes.
            let size = 3 << 20
            try await peer.send("PUT /count HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(size)\r\n\r\n")
            try await peer.send([UInt8](repeating: 1, count: size))
            #expect(try await peer.readResponse().text == "\(size)\n")
            let response = try await peer.response(to: "GET /bytes/200001 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(response.body == [UInt8](repeating: 0, count: 200_001))
            for count in ["-1", "x", "99999999999999999999"] {
                let refusal = try await peer.response(to: "GET /bytes/\(count) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(refusal.status == 400)
            }
        }
    }

    @Test("What is uploaded is counted, whatever its length")
    func upload() async throws {
        try await Self.server().test { client async throws in
            for method in [HTTPRequest.Method.post, .put] {
                let body = [UInt8](repeating: 1, count: 3 << 20)
                let response = try await client.request(method, "/demo/upload", body: body)
                #expect(response.text == "\(body.count)\n")
            }
        }
    }

    @Test("Beside a folder the page is at /demo when it is asked for")
    func pageBesideFolder() async throws {
        try await withTemporaryFolder { root in
            var server = WebServer(port: 0)
            DemoServer.addRoutes(to: &server, echoPath: "/echo", style: .async, folder: root, showsPage: true)
            try await server.test { client async throws in
                #expect(try await client.get("/demo").text == DemoPage.text("index.html"))
                #expect(try await client.get("/demo/duplex.css").status == .ok)
                #expect(try await client.get("/absent").status == .notFound)
            }
        }
    }

    @Test(
        "A folder's files, and what is in it; beside it the echo, the chat room and the events, and nothing of the page"
    )
    func folder() async throws {
        try await withTemporaryFolder { root in
            try "text".write(toFile: root + "a.txt", atomically: true, encoding: .utf8)
            var server = WebServer(port: 0)
            DemoServer.addRoutes(to: &server, echoPath: "/echo", style: .async, folder: root)
            try await server.test { client async throws in
                #expect(try await client.get("/a.txt").text == "text")
                #expect(try await client.get("/").text.contains("./a.txt"))
                for path in ["/echo", "/any"] {
                    let socket = try await client.webSocket(path)
                    try await socket.send("hi")
                    #expect(try await socket.receive() == "hi")
                    await socket.close()
                }
                let chat = try await client.webSocket("/chat")
                #expect(try await chat.receive() == #"{"people":1}"#)
                await chat.close()
                let events = try await client.events("/events")
                #expect(try await events.nextData() == #"{"number":1,"after":null}"#)
                await events.close()
                for path in ["/demo", "/demo/log", "/demo/duplex.js", "/hello", "/bytes/3"] {
                    #expect(try await client.get(path).status == .notFound, "\(path)")
                }
                #expect(try await client.post("/demo/upload", body: [1]).status == .methodNotAllowed)
            }
        }
    }

    @Test("Every file of the page goes out with its type and the fields that protect it")
    func files() throws {
        for file in DemoPage.files {
            let response = DemoServer.response(file, host: "localhost:8080")
            #expect(response.status == .ok && response.body.bytes == file.bytes)
            #expect(response.headers[.contentType] == file.contentType.rawValue)
            #expect(response.headers[.xContentTypeOptions] == "nosniff")
            #expect(response.headers[.cacheControl] == "no-cache")
            #expect(response.headers[try #require(HTTPField.Name("Referrer-Policy"))] == "no-referrer")
            let policy = try #require(response.headers[.contentSecurityPolicy])
            #expect(policy.contains("default-src 'none'") && policy.contains("ws://localhost:8080"))
        }
    }

    @Test("A host with punctuation can't add to the policy", arguments: ["a;script-src", "a'b", "x*", "a$b", ""])
    func hostilePolicy(host: String) throws {
        let response = DemoServer.response(try #require(DemoPage.files.first), host: host)
        let policy = try #require(response.headers[.contentSecurityPolicy])
        #expect(policy == DemoPage.contentSecurityPolicy(host: host.isEmpty ? "" : "localhost"))
    }

    @Test("The page is served over HTTP")
    func page() async throws {
        try await withServer(Self.server()) { root in
            let port = try WebSocketURL(root).port
            let socket = try await Socket.connect(to: .host("localhost", port: port))
            let page = try #require(DemoPage.files.first { $0.name == "index.html" })
            let tag = try #require(page.entityTag)
            let headers = "Host: localhost:\(port)\r\nIf-None-Match: \(tag)\r\n"
            try await socket.write("GET /demo/duplex.css HTTP/1.1\r\n\(headers)\r\nGET / HTTP/1.1\r\n\(headers)\r\n")
            try await socket.write("GET / HTTP/1.1\r\nHost: localhost:\(port)\r\nConnection: close\r\n\r\n")
            var bytes: [UInt8] = []
            while let more = try await socket.read() { bytes += more }
            await socket.close()
            let text = String(decoding: bytes, as: UTF8.self)
            let statuses = text.matches(of: #/HTTP/1\.1 (\d+) /#).map { String($0.1) }
            #expect(statuses == ["200", "304", "200"])
            #expect(text.hasSuffix("\r\n\r\n" + DemoPage.text("index.html")))
        }
    }
}

@Suite("The topics of duplex serve", .timeLimit(minutes: 1))
struct DemoTopicsTests {
    @Test("Without --topics nobody speaks the protocol, and --redis goes with it")
    func off() async throws {
        #expect(try await RunningCommand.run(["serve", "--port", "0", "--redis", "redis://127.0.0.1:1"]).status == 64)
        #expect(throws: TopicError.self) { try DemoTopics(redis: "http://127.0.0.1") }
        let topics = DemoTopics()
        #expect(topics.chat.name == "chat" && topics.topics.state == nil)
    }

    @Test("Two servers that a Redis joins are one: topics, what is kept, and the chat room with its people")
    func joined() async throws {
        try await TestRedis.run { redis in
            try await withServeCommand(["--topics", "--redis", redis.url]) { one in
                try await withServeCommand(["--topics", "--redis", redis.url]) { two in
                    let published = try await RunningCommand.run(["publish", "ws://\(one)/topics", "room/1", "hi"])
                    #expect(published.status == 0 && published.output.hasSuffix("-1\n"))
                    let arguments = ["subscribe", "ws://\(two)/topics", "room/1", "--last", "1", "-n", "2"]
                    let subscriber = try RunningCommand(arguments)
                    #expect(try await subscriber.readLine() == "hi")
                    _ = try await RunningCommand.run(["publish", "ws://\(one)/topics", "room/1", "ho"])
                    #expect(try await subscriber.readLine() == "ho")
                    #expect(try await subscriber.finish().status == 0)
                    try await Self.chat(one, two)
                }
            }
        }
    }

    @Test("A Redis that can't be reached, or refuses the password, is told of once")
    func unreachable() async throws {
        let port = try ReservedPort()
        let arguments = ["serve", "--port", "0", "--topics", "--quiet", "--redis", "redis://:wrong@\(port.address)"]
        let server = try RunningCommand(arguments)
        let line = try await server.readError()
        #expect(line.hasPrefix("error: Redis can't be used") && line.contains("\(port.address)"), "\(line)")
        server.signal(15)
        #expect(try await server.finish().status == 0)
    }

    private static func chat(_ one: String, _ two: String) async throws {
        let ann = try await WebSocket.connect(to: "ws://\(one)\(DemoPage.chatPath)")
        #expect(try await ann.receive() == #"{"people":1}"#)
        let bob = try await WebSocket.connect(to: "ws://\(two)\(DemoPage.chatPath)")
        #expect(try await ann.receive() == #"{"people":2}"#)
        try await bob.send(#"{"name":"Bob","text":"over there"}"#)
        #expect(try await ann.receive().description.contains("over there"))
        await bob.close()
        #expect(try await ann.receive() == #"{"people":1}"#)
        await ann.close()
    }
}

@Suite("The events of duplex serve", .timeLimit(minutes: 1))
struct DemoEventsTests {
    @Test("A stream ends after some events, and who comes back gets those behind the last")
    func comingBack() async throws {
        var server = WebServer(port: 0)
        let events = DemoEvents(interval: .zero, count: 3)
        server.events("/events") { try await events.send(on: $0) }
        try await server.test { client async throws in
            for (lastID, numbers, after) in [(nil, 1...3, "null"), ("3", 4...6, #""3""#)] as [(String?, _, _)] {
                let stream = try await client.events("/events", lastEventID: lastID)
                for number in numbers {
                    #expect(try await stream.nextData() == #"{"number":\#(number),"after":\#(after)}"#)
                    #expect(await stream.lastEventID == "\(number)")
                }
                #expect(try await stream.nextData() == nil)
            }
        }
    }

    @Test("Who names an event that can't have been begins anew", arguments: ["x", "-1", "9223372036854775807", ""])
    func badIDs(id: String) async throws {
        var server = WebServer(port: 0)
        let events = DemoEvents(interval: .zero, count: 1)
        server.events("/events") { try await events.send(on: $0) }
        try await server.test { client async throws in
            let stream = try await client.events("/events", lastEventID: id)
            #expect(try await stream.nextData() == #"{"number":1,"after":null}"#)
        }
    }
}

@Suite("The last requests on the demo page", .timeLimit(minutes: 1))
struct DemoLogTests {
    @Test("Each request is an event, also of what came before, without its query and who asked")
    func events() async throws {
        var server = WebServer(port: 0)
        DemoServer.addRoutes(to: &server, echoPath: "/echo", style: .async)
        try await server.test { client async throws in
            _ = try await client.get("/?token=secret")
            let stream = try await client.events("/demo/log")
            let first = try #require(try await stream.nextData())
            #expect(first.hasPrefix(#"{"method":"GET","path":"/","status":200,"microseconds":"#))
            #expect(first.contains(#""bytes":\#(DemoPage.text("index.html").utf8.count)"#))
            #expect(!first.contains("secret") && !first.contains("127.0.0.1"))
            _ = try await client.post("/demo/upload", body: [1, 2, 3])
            #expect(try await stream.nextData()?.contains(#""path":"/demo/upload","status":200"#) == true)
            await stream.close()
        }
    }

    @Test("What scripts/bench asks for isn't among them")
    func benchmark() async throws {
        var server = WebServer(port: 0)
        DemoServer.addRoutes(to: &server, echoPath: "/echo", style: .async)
        try await server.test { client async throws in
            for path in ["/hello", "/hello/async", "/demo/icon.svg"] { _ = try await client.get(path) }
            let stream = try await client.events("/demo/log")
            #expect(try await stream.nextData()?.contains("icon.svg") == true)
            await stream.close()
        }
    }
}

@Suite("A folder that duplex serve shares", .timeLimit(minutes: 1))
struct SharedContentTests {
    private func withServer(
        _ arguments: [String],
        _ body: @escaping @Sendable (TestClient, _ folder: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let options = try ServeArguments.parse(arguments)
            let server = try options.server(serving: .folder(folder), tls: nil, log: nil)
            try await server.test { client async throws in try await body(client, folder) }
        }
    }

    @Test("As a disk it is at /dav, and its files are where they were")
    func webDAV() async throws {
        try await withServer(["--webdav"]) { client, _ async throws in
            let put = try await client.request(.put, "/dav/a.txt", body: Array("one".utf8))
            #expect(put.status == .created)
            #expect(try await client.get("/a.txt").text == "one")
            let listing = try await client.get("/", headers: [.accept: "text/html"])
            #expect(listing.text.contains("a.txt"))
            #expect(try await client.get("/.duplex/").status == .notFound)
            #expect(try await client.request(.put, "/b.txt", body: Array("one".utf8)).status == .methodNotAllowed)
        }
    }

    @Test("Pages of the origins that are named may use the disk")
    func webDAVFromPages() async throws {
        try await withServer(["--webdav", "--cors", "https://a.test"]) { client, _ async throws in
            for (origin, isAllowed) in [("https://a.test", true), ("https://b.test", false)] {
                let asked: HTTPFields = [.origin: origin, .accessControlRequestMethod: "PROPFIND"]
                let answer = try await client.request(.options, "/dav/", headers: asked)
                #expect(answer.headers[.accessControlAllowOrigin] == (isAllowed ? origin : nil))
                let methods = answer.headers[.accessControlAllowMethods] ?? ""
                let names = answer.headers[.accessControlAllowHeaders] ?? ""
                #expect(methods.contains("PROPFIND") == isAllowed && names.lowercased().contains("depth") == isAllowed)
            }
        }
    }

    @Test(
        "With the page there is no listing, and the disk beside it where that is asked for",
        arguments: [false, true]
    )
    func page(hasWebDAV: Bool) async throws {
        try await withServer(["--upload"] + (hasWebDAV ? ["--webdav"] : [])) { client, _ async throws in
            let page = try await client.get("/")
            #expect(page.status == .ok && page.text.contains("<title>"))
            #expect(try await client.get("/list?path=").text.contains("\"entries\":[]"))
            let put = try await client.request(.put, "/dav/a.txt", body: Array("one".utf8))
            #expect((put.status == .created) == hasWebDAV)
            #expect(try await client.get("/list?path=").text.contains("a.txt") == hasWebDAV)
        }
    }

    @Test("Names with a dot at their beginning are hidden, unless --hidden shows them; .duplex is always hidden")
    func hidden() async throws {
        let names = [".sync", ".~lock.a.txt%23", "._a.txt", ".DS_Store"]
        for isShown in [false, true] {
            try await withServer(["--webdav"] + (isShown ? ["--hidden"] : [])) { client, _ async throws in
                for name in names {
                    let put = try await client.request(.put, "/dav/" + name, body: Array("1".utf8))
                    #expect(put.status == (isShown ? .created : .forbidden), "\(name)")
                    for place in ["/dav/", "/"] {
                        #expect(
                            try await client.get(place + name).status == (isShown ? .ok : .notFound),
                            "\(place)\(name)"
                        )
                    }
                }
                let folder = try await client.request(HTTPRequest.Method("MKCOL") ?? .get, "/dav/.notes")
                #expect(folder.status == (isShown ? .created : .forbidden))
                let listing = try await client.get("/", headers: [.accept: "text/html"]).text
                #expect(listing.contains(".sync") == isShown && !listing.contains(".duplex"))
                for own in [".duplex", ".DUPLEX-x"] {
                    for place in ["/dav/", "/"] {
                        #expect(try await client.get(place + own + "/").status == .notFound)
                    }
                    let put = try await client.request(.put, "/dav/\(own)/x", body: Array("1".utf8))
                    #expect(put.status != .created)
                }
            }
        }
    }

    @Test("Without either nobody writes")
    func neither() async throws {
        try await withServer([]) { client, _ async throws in
            #expect(try await client.request(.put, "/dav/a.txt", body: Array("one".utf8)).status != .created)
            #expect(try await client.get("/list?path=").status == .notFound)
        }
    }
}

@Suite("The broadcast of duplex serve", .timeLimit(minutes: 1))
struct BroadcastHandlerTests {
    @Test("Every message goes to all connections, on every loop, and to none that has left")
    func everybody() async throws {
        var server = WebServer(port: 0)
        server.eventLoops = try EventLoopGroup(loops: 2)
        server.webSocket("/", handler: BroadcastHandler())
        try await server.withRunning { address in
            var sockets: [WebSocket] = []
            for _ in 0..<12 { sockets.append(try await WebSocket.connect(to: "ws://localhost:\(address.port)/")) }
            for (number, sender) in sockets.enumerated() {
                let text = "from \(number)"
                try await sender.send(text)
                for socket in sockets { #expect(try await socket.receive() == .text(text)) }
            }
            for _ in 0..<6 { await sockets.remove(at: sockets.count / 2).close() }
            try await sockets[0].send([1, 2, 3])
            for socket in sockets {
                #expect(try await socket.receive() == .binary([1, 2, 3]))
                await socket.close()
            }
        }
        await server.eventLoops?.stop()
    }
}

@Suite("The echo", .timeLimit(minutes: 1))
struct EchoHandlerTests {
    @Test("Both kinds of handler send every message back as what it was, in order", arguments: [true, false])
    func echoes(isSynchronous: Bool) async throws {
        var server = WebServer(port: 0)
        if isSynchronous {
            server.webSocket("/", handler: EchoHandler())
        } else {
            server.webSocket("/") { socket in try await echo(socket) }
        }
        let messages: [Message] = [
            "hi", .binary([0, 255]), "", .binary([]), .text(String(repeating: "x", count: 100_000)),
        ]
        try await withServer(server) { url in
            let socket = try await WebSocket.connect(to: url)
            for message in messages { try await socket.send(message) }
            for message in messages { #expect(try await socket.receive() == message) }
            #expect(await socket.close().code == .normalClosure)
        }
    }
}
