// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Foundation
import HTTPTypes
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("WebSockets by URL and URLRequest")
struct URLConnectingTests {
    /// Answers each message with a field of the request, and agrees on a subprotocol.
    private static func serve(_ server: inout WebServer) {
        server.webSocket("/who", .subprotocols("chat")) { socket, request in
            for try await message in socket.messages {
                try await socket.send(message)
                try await socket.send(request.headers[.userAgent] ?? "nobody")
            }
        }
    }

    private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test("A URL is connected to, that of a page as well", arguments: ["ws", "http"])
    func urls(scheme: String) async throws {
        try await withServer(Self.serve) { address in
            let socket = try await WebSocket.connect(to: Self.url("\(scheme)://\(address)/who"))
            let data = Data([0, 1, 255])
            try await socket.send(data)
            #expect(try await socket.receive().data == data)
            #expect(try await socket.receive() == "nobody")
            #expect(await socket.close().isClean)
        }
    }

    @Test("The fields, subprotocols and timeout of a request are used, and replace those of the options")
    func requests() async throws {
        try await withServer(Self.serve) { address in
            var request = URLRequest(url: try Self.url("http://\(address)/who"))
            request.setValue("somebody", forHTTPHeaderField: "user-agent")
            request.setValue("other, chat", forHTTPHeaderField: "Sec-WebSocket-Protocol")
            var options = WebSocketOptions()
            options.headers[.userAgent] = "the options"
            let answer = try await WebSocket.withConnection(to: request, options: options) { socket in
                try await socket.send(Data("ä".utf8))
                let chosen = socket.subprotocol
                #expect(chosen == "chat")
                _ = try await socket.receive()
                return try await socket.receive()
            }
            #expect(answer == "somebody")
        }
    }

    @Test("A closure gets the connection of a URL")
    func closure() async throws {
        try await withServer(Self.serve) { address in
            let answer = try await WebSocket.withConnection(to: Self.url("ws://\(address)/who")) { socket in
                try await socket.send("hello")
                return try await socket.receive()
            }
            #expect(answer.data == Data("hello".utf8))
        }
    }

    @Test("A reconnecting client is made of URLs, and of a request")
    func reconnecting() async throws {
        try await withServer(Self.serve) { address in
            var request = URLRequest(url: try Self.url("ws://\(address)/who"))
            request.setValue("somebody", forHTTPHeaderField: "User-Agent")
            let clients = [
                (ReconnectingWebSocket(try Self.url("ws://\(address)/who")), "nobody"),
                (try ReconnectingWebSocket(request: request), "somebody"),
            ]
            for (client, name) in clients {
                try await client.send(Data([7]))
                var messages = client.messages.makeAsyncIterator()
                #expect(try await messages.next() == .binary([7]))
                #expect(try await messages.next() == .text(name))
                await client.close()
            }
        }
    }

    private static func code(of request: URLRequest) -> WebSocketError.Code? {
        var options = WebSocketOptions()
        do {
            _ = try options.apply(request)
            return nil
        } catch {
            return (error as? WebSocketError)?.code
        }
    }

    @Test("A request that can't open a WebSocket is refused before anything is sent")
    func refusals() async throws {
        let request = URLRequest(url: try Self.url("ws://localhost/"))
        var post = request
        post.httpMethod = "POST"
        #expect(Self.code(of: post) == .invalidRequest)
        var body = request
        body.httpBody = Data([1])
        #expect(Self.code(of: body) == .invalidRequest)
        var nameless = request
        nameless.url = nil
        #expect(Self.code(of: nameless) == .invalidURL)
        #expect(Self.code(of: request) == nil)
        await #expect(throws: WebSocketError.self) { try await WebSocket.connect(to: Self.url("ftp://localhost/")) }
    }

    @Test(
        "The timeout of a request is that of the attempt, where it is a time to wait",
        arguments: [(60, 60), (0.5, 0.5), (0, 10), (-1, 10), (.infinity, 10), (.nan, 10)] as [(Double, Double)]
    )
    func timeouts(interval: Double, expected: Double) throws {
        var request = URLRequest(url: try Self.url("ws://localhost/"))
        request.timeoutInterval = interval
        var options = WebSocketOptions()
        _ = try options.apply(request)
        #expect(options.connectTimeout == .seconds(expected))
    }
}
