// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite(.serialized) struct WebServerSignalsTests {
    @Test("A server runs until its process gets the signal, and then ends in order", .timeLimit(.minutes(1)))
    func signal() async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.get("/") { _ in "" }
        // One that nothing else in these tests is about: who starts a process hands on what is caught here as ignored. It is
        // caught before the server listens.
        try await server.run(until: .quit) { _ in kill(getpid(), SIGQUIT) }
    }

    @Test("Being cancelled ends it as well", .timeLimit(.minutes(1)))
    func cancelled() async throws {
        let (listening, tell) = AsyncStream<Void>.makeStream()
        let server = WebServer(host: "127.0.0.1", port: 0)
        let task = Task { try await server.run(until: .quit) { _ in tell.yield() } }
        for await _ in listening { break }
        task.cancel()
        try await task.value
    }
}
