// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWire
import Logging
import Synchronization
import Testing

/// Uploads that take their time, by way of nginx and haproxy.
@Suite(.serialized, .timeLimit(minutes: 2)) struct ProxiedUploadTests {
    private static let head = "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000\r\n\r\n"
    private static let half = String(repeating: "x", count: 1_000)

    /// Tells how much has come, and then what has ended it.
    private static func server(_ tell: AsyncStream<String>.Continuation) -> WebServer {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        server.get("/hello") { _ in "Hello, world!" }
        server.post("/upload") { request in
            var count = 0
            do {
                for try await piece in request.body {
                    count += piece.count
                    tell.yield("\(count)")
                }
            } catch let error as HTTPProtocolError {
                tell.yield("\(error.code)")
                throw error
            } catch {
                tell.yield("\(type(of: error))")
                throw error
            }
            return "\(count)"
        }
        return server
    }

    /// Runs the body once the handler has got the half that a client has sent through a proxy.
    private static func withHalf(
        by proxy: CorpusProxy,
        _ body:
            @escaping @Sendable (RawPeer, _ proxied: SocketAddress, _ told: AsyncStream<String>) async throws -> Void
    ) async throws {
        let (told, tell) = AsyncStream<String>.makeStream()
        try await server(tell).withRunning { address in
            try await proxy.withRunning(to: address) { port, _ in
                let peer = try await RawPeer.connect(to: port)
                try await peer.send(head + half)
                for await text in told where text == "1000" { break }
                try await body(peer, port, told)
            }
        }
    }

    @Test("The handler gets what is sent as it is sent", arguments: [CorpusProxy.nginxStreaming, .haproxy])
    func handedOn(proxy: CorpusProxy) async throws {
        try await Self.withHalf(by: proxy) { peer, _, _ in
            try await peer.send(Self.half)
            let text = try await peer.readResponse().text
            #expect(text == "2000")
        }
    }

    @Test("It sees that one is cut", arguments: [CorpusProxy.nginxStreaming, .haproxy])
    func cut(proxy: CorpusProxy) async throws {
        try await Self.withHalf(by: proxy) { peer, proxied, told in
            await peer.reset()
            for await text in told {
                #expect(["truncated", "CancellationError"].contains(text), "\(text)")
                break
            }
            let other = try await RawPeer.connect(to: proxied)
            let text = try await other.response(to: "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n").text
            #expect(text == "Hello, world!")
        }
    }

    @Test("It hears nothing of one that is cut where the proxy gathers it")
    func gathered() async throws {
        let (told, tell) = AsyncStream<String>.makeStream()
        try await Self.server(tell).withRunning { address in
            try await CorpusProxy.nginx.withRunning(to: address) { port, _ in
                let peer = try await RawPeer.connect(to: port)
                try await peer.send(Self.head + Self.half)
                await peer.reset()
                // By now it would have heard of it.
                let whole = try await RawPeer.connect(to: port)
                #expect(try await whole.response(to: Self.head + Self.half + Self.half).text == "2000")
            }
        }
        tell.finish()
        let all = await told.reduce(into: []) { $0.append($1) }
        // The whole one alone, in one piece or more.
        #expect(all.last == "2000" && all.count { $0 == "2000" } == 1)
        #expect(all == all.sorted { (Int($0) ?? 0) < (Int($1) ?? 0) }, "\(all)")
    }
}
#endif
