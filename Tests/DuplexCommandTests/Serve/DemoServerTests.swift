// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSharing
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
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
        try await WebServer.testing(Self.server()) { client async throws in
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
            try await WebServer.testing(server) { client async throws in
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
            try await WebServer.testing(server) { client async throws in
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
            #expect(response.fields[.contentType] == file.contentType.rawValue)
            #expect(response.fields[.xContentTypeOptions] == "nosniff")
            #expect(response.fields[.cacheControl] == "no-cache")
            #expect(response.fields[try #require(HTTPField.Name("Referrer-Policy"))] == "no-referrer")
            let policy = try #require(response.fields[.contentSecurityPolicy])
            #expect(policy.contains("default-src 'none'") && policy.contains("ws://localhost:8080"))
        }
    }

    @Test("A host with punctuation can't add to the policy", arguments: ["a;script-src", "a'b", "x*", "a$b", ""])
    func hostilePolicy(host: String) throws {
        let response = DemoServer.response(try #require(DemoPage.files.first), host: host)
        let policy = try #require(response.fields[.contentSecurityPolicy])
        #expect(policy == DemoPage.contentSecurityPolicy(host: host.isEmpty ? "" : "localhost"))
    }

    @Test("The page is served over HTTP")
    func page() async throws {
        try await withServer(Self.server()) { root in
            let port = try WebSocketURL(root).port
            let socket = try await Socket.connect(to: .host("localhost", port: port))
            let page = try #require(DemoPage.files.first { $0.name == "index.html" })
            let tag = try #require(page.entityTag)
            let fields = "Host: localhost:\(port)\r\nIf-None-Match: \(tag)\r\n"
            try await socket.write("GET /demo/duplex.css HTTP/1.1\r\n\(fields)\r\nGET / HTTP/1.1\r\n\(fields)\r\n")
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
