// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTesting
import Testing

@testable import DuplexServer

@Suite struct EntranceTests {
    @Test("A request tells which address it came by, and each listener answers for its own hosts")
    func addresses() async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.listen(on: Listener(.unix("@duplex-entrance-\(UInt32.random(in: 0 ... .max))")))
        server.get("/") { request in "\(request.client.listenerAddress?.description ?? "none")" }
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
        server.get("/") { request in "\(request.client.listenerAddress == nil)" }
        try await WebServer.testing(server) { client async throws in
            #expect(try await client.get("/").text == "true")
        }
    }
}
