// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import Testing

@Suite struct ClientTests {
    @Test("It is the same for all requests of a connection, with the address of the peer and no TLS in the clear")
    func shared() async throws {
        let (clients, tell) = AsyncStream<Client>.makeStream()
        try await withServer { server in
            server.get("/") { request in
                tell.yield(request.client)
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
}
