// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import Foundation
import Testing

@testable import DuplexServer

@Suite(.timeLimit(minutes: 1)) struct RequestProgressTests {
    /// Asks until the one connection is as far; ends by the suite's limit of time, if it never is.
    private static func progress(
        of running: RunningServer,
        where isReached: (RequestProgress) -> Bool
    ) async throws -> RequestProgress {
        while true {
            if let request = await running.connections.first?.request, isReached(request) { return request }
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test("How much of a body has come is told, who sends it, and nothing between two requests")
    func upload() async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.use(.completed { _, _ in })
        server.use(.basicAuth(realm: "tests", accounts: ["ann": "secret"]))
        server.put("/up") { request in
            for try await _ in request.body {}
            return "ok"
        }
        let running = try await server.start()
        let peer = try await RawPeer.connect(to: running.addresses[0])
        #expect(await running.connections.allSatisfy { $0.request == nil })
        try await peer.send(
            "PUT /up HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic YW5uOnNlY3JldA==\r\nContent-Length: 10\r\n\r\n1234"
        )
        let request = try await Self.progress(of: running) { $0.receivedBytes == 4 && $0.user != nil }
        #expect(request.method == .put && request.path == "/up" && request.user == "ann")
        #expect(request.requestLength == 10 && request.sentBytes == 0 && request.responseLength == nil)
        #expect(request.duration >= .zero)
        #expect(try await peer.response(to: "567890").text == "ok")
        #expect(await running.connections.allSatisfy { $0.request == nil })
        await running.stop(within: .zero)
    }

    @Test("How much of a file has gone is told while the client takes it")
    func download() async throws {
        try await withTestFolder(["long": ""]) { folder in
            let size = 64 << 20
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder + "long"))
            try file.truncate(atOffset: UInt64(size))
            try file.close()
            var server = WebServer(host: "127.0.0.1", port: 0)
            server.use(.completed { _, _ in })
            server.files("/", from: folder)
            let running = try await server.start()
            let peer = try await RawPeer.connect(to: running.addresses[0])
            try await peer.send("GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let request = try await Self.progress(of: running) { $0.sentBytes > 0 }
            // What the client doesn't take waits: not all of it can have gone.
            #expect(request.sentBytes < size && request.responseLength == size && request.receivedBytes == 0)
            await running.stop(within: .zero)
        }
    }

    @Test("Nothing is told where nothing counts")
    func uncounted() async throws {
        let (started, tell) = AsyncStream<Void>.makeStream()
        let (ends, end) = AsyncStream<Never>.makeStream()
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.get("/") { _ in
            tell.yield()
            for await _ in ends {}
            return "ok"
        }
        let running = try await server.start()
        let peer = try await RawPeer.connect(to: running.addresses[0])
        try await peer.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for await _ in started { break }
        #expect(await running.connections.map(\.route) == ["GET /"])
        #expect(await running.connections.allSatisfy { $0.request == nil })
        end.finish()
        await running.stop()
    }
}
