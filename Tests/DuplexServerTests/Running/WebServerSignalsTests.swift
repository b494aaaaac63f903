// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestTimes
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite(.serialized) struct WebServerSignalsTests {
    @Test("A server runs until its process gets the signal, and then ends in order", .timeLimit(minutes: 1))
    func signal() async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.get("/") { _ in "" }
        // One that nothing else in these tests is about: who starts a process hands on what is caught here as ignored. It is
        // caught before the server listens.
        try await server.run(until: .quit) { _ in kill(getpid(), SIGQUIT) }
    }

    @Test("SIGHUP has the app read its settings again, as often as it comes", .timeLimit(minutes: 1))
    func hangUp() async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.get("/") { _ in "old" }
        try await server.run(until: .quit) { address in
            Task {
                // Once the server serves, as the first response shows, the signal is caught.
                let peer = try await RawPeer.connect(to: address)
                let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
                #expect(try await peer.response(to: request).text == "old")
                kill(getpid(), SIGHUP)
            }
        } onHangUp: { running in
            try await running.replaceRoutes { routes in routes.get("/") { _ in "new" } }
            let peer = try await RawPeer.connect(to: running.addresses[0])
            #expect(try await peer.response(to: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").text == "new")
            kill(getpid(), SIGQUIT)
        }
    }

    @Test("Being cancelled ends it as well", .timeLimit(minutes: 1))
    func cancelled() async throws {
        let (listening, tell) = AsyncStream<Void>.makeStream()
        let server = WebServer(host: "127.0.0.1", port: 0)
        let task = Task { try await server.run(until: .quit) { _ in tell.yield() } }
        for await _ in listening { break }
        task.cancel()
        try await task.value
    }
}
