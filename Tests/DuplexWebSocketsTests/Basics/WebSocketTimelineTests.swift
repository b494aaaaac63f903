// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWire
import Testing

@testable import DuplexWebSockets

@Suite("What happened to a connection, and when")
struct WebSocketTimelineTests {
    @Test("A client knows its attempt, the opening, the first message and the end, in their order")
    func client() async throws {
        try await withClient { socket, peer in
            let fresh = await socket.timeline
            let handshake = try #require(fresh.handshake)
            #expect(handshake.stage == .upgrade && handshake.requests == 1 && handshake.upgrade == fresh.upgrade)
            #expect(handshake.connecting?.attempts.map(\.outcome) == [.connected])
            #expect(handshake.remoteAddress == fresh.remoteAddress && fresh.remoteAddress == socket.remoteAddress)
            // It is open since the turn of the answer began: once it was connected, and before the upgrade was over.
            let connecting = try #require(handshake.connecting?.total)
            #expect(fresh.began == handshake.began && fresh.opened >= fresh.began.advanced(by: connecting))
            #expect(fresh.attempt == 1 && fresh.tls == nil && fresh.security == nil)
            #expect(fresh.firstMessage == nil && fresh.closed == nil)
            try await peer.send(.text("four"), .text("and more"))
            #expect(try await socket.receive() == "four")
            let first = try #require(await socket.timeline.firstMessage)
            #expect(first >= fresh.opened)
            #expect(try await socket.receive() == "and more")
            #expect(await socket.timeline.firstMessage == first)
            await peer.reset()
            await socket.close()
            let whole = await socket.timeline
            #expect(try #require(whole.closed) >= first)
            #expect(whole.bytesReceived == 12 && whole.bytesSent == 0)
            let parts = whole.description.split(separator: " · ")
            #expect(parts.first?.hasPrefix("TCP ") == true && parts.last?.hasPrefix("closed at ") == true)
        }
    }

    @Test("A server knows when it accepted, and what came then")
    func server() async throws {
        try await withPair { client, server in
            let timeline = await server.timeline
            #expect(timeline.handshake == nil && timeline.upgrade != nil)
            #expect(timeline.began <= timeline.opened && timeline.closed == nil)
            #expect(timeline.remoteAddress == server.remoteAddress)
            try await client.send("x")
            #expect(try await server.receive() == "x")
            #expect(await server.timeline.firstMessage != nil)
            async let end = try? server.receive()
            await client.close()
            _ = await end
        }
    }

    @Test("TLS tells its version, whether a session was resumed, and how long it took, on both sides")
    func secured() async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        let (sockets, opened) = AsyncStream<WebSocketTimeline>.makeStream()
        try await withServer { server in
            server.tls = TLSServerOptions.patient(identity)
            server.webSocket("/") { socket in
                opened.yield(socket.timeline)
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            var options = WebSocketOptions()
            options.tls.trust = .roots(identity.certificates)
            for round in 0..<2 {
                let socket = try await WebSocket.connect(to: "wss://localhost:\(address.port)/", options: options)
                // The tickets of TLS 1.3 come behind the handshake.
                try await socket.send("hello")
                #expect(try await socket.receive() == "hello")
                let client = await socket.timeline
                let steps = try #require(client.handshake?.steps)
                #expect(steps.map(\.stage) == [.nameLookup, .connecting, .tls, .upgrade])
                #expect(!steps.contains(where: \.hasFailed) && client.began <= steps[0].began)
                #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.ended <= $1.began })
                var iterator = sockets.makeAsyncIterator()
                let server = try #require(await iterator.next())
                for timeline in [client, server] {
                    #expect(timeline.security?.version == .tls13 && timeline.security?.isResumed == (round == 1))
                    #expect(try #require(timeline.tls) > .zero)
                    #expect(timeline.description.contains(round == 1 ? "TLS 1.3 resumed " : "TLS 1.3 "))
                }
                #expect(server.began <= server.opened)
                await socket.close()
                // Behind the end as well.
                #expect(await socket.timeline.security == client.security)
            }
        }
    }
}
