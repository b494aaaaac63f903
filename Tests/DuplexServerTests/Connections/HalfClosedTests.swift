// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import Testing

/// Clients that end their side by TLS and still read: close_notify without the end of the network (RFC 8446 section 6.1).
@Suite("Clients that end their side of a secured connection", .timeLimit(minutes: 1))
struct HalfClosedTests {
    private static let identity = Result { try TLSIdentity.selfSigned(for: ["localhost"]) }
    private static let request = "GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n"

    /// Passes bytes on between a client and the server, and keeps the client's end to itself.
    private struct Relay {
        let client: Socket
        let server: Socket
        /// How the handler has gone on.
        let outcomes: AsyncStream<String>

        /// Passes on what the client sends, up to its end.
        func passRequest() async throws {
            while let bytes = try await client.read(upTo: 65_536) { try await server.write(bytes) }
        }

        func passResponse() async throws {
            while let bytes = try await server.read(upTo: 65_536) { try await client.write(bytes) }
        }
    }

    private static func next(_ outcomes: AsyncStream<String>) async -> String? {
        await outcomes.first { _ in true }
    }

    /// Runs a server with one handler that waits for the gate, or for its cancellation, and a client that has ended its side by
    /// TLS behind a request for it; the network's end has not come through.
    private func withHalfClosed(
        _ body: @escaping @Sendable (RawPeer, Relay, _ open: @Sendable () -> Void) async throws -> Void
    ) async throws {
        let (asks, ask) = AsyncStream<Void>.makeStream()
        let (gate, keeper) = AsyncStream<Never>.makeStream()
        let (outcomes, note) = AsyncStream<String>.makeStream()
        let group = try EventLoopGroup(loops: 1)
        var tls = TLSOptions()
        tls.trust = .roots(try Self.identity.get().certificates)
        let options = tls
        let identity = try Self.identity.get()
        try await withServer { server in
            server.eventLoops = group
            server.tls = TLSServerOptions.patient(identity)
            server.get("/wait") { _ in
                ask.yield()
                for await _ in gate {}
                let outcome = Task.isCancelled ? "cancelled" : "waited"
                note.yield(outcome)
                return outcome
            }
            server.get("/") { _ in "here" }
        } _: { address in
            let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
            async let connecting = Socket.connect(to: .host("localhost", port: listener.localAddress.port))
            var arrivals = listener.makeAsyncIterator()
            let arrived = try #require(try await arrivals.next())
            let server = try await Socket.connect(to: .address(address))
            let relay = Relay(client: arrived, server: server, outcomes: outcomes)
            let socket = try await connecting
            async let responding: Void = relay.passResponse()
            async let requesting: Void = relay.passRequest()
            try await socket.startTLS(options)
            let peer = RawPeer(socket, masks: true)
            try await peer.send(Self.request)
            _ = await asks.first { _ in true }
            await peer.finishWriting()
            // Behind it all that the client has sent lies with the server, and another request is answered behind that.
            try await requesting
            try await Self.expectAnswer(address, options)
            try await body(peer, relay) { keeper.finish() }
            keeper.finish()
            await peer.close()
            await relay.server.close()
            await relay.client.close()
            _ = try? await responding
            await listener.close()
        }
        await group.stop()
    }

    private static func expectAnswer(_ address: SocketAddress, _ options: TLSOptions) async throws {
        var connecting = ConnectOptions()
        connecting.tls = options
        let other = RawPeer(
            try await Socket.connect(to: .tls("localhost", port: address.port), options: connecting),
            masks: true
        )
        #expect(try await other.response(to: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").text == "here")
        await other.close()
    }

    @Test("A client that still reads gets the answer to its last request")
    func answered() async throws {
        try await withHalfClosed { peer, _, open async throws in
            open()
            #expect(try await peer.readResponse().text == "waited")
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("So does one whose side of the network has ended, too")
    func networkEnd() async throws {
        try await withHalfClosed { peer, relay, open async throws in
            await relay.server.finishWriting()
            open()
            #expect(try await peer.readResponse().text == "waited")
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("A reset cancels the handler")
    func reset() async throws {
        try await withHalfClosed { _, relay, _ async throws in
            await relay.server.reset()
            #expect(await Self.next(relay.outcomes) == "cancelled")
        }
    }

    @Test("What comes behind the end harms nobody")
    func more() async throws {
        try await withHalfClosed { peer, relay, open async throws in
            try await relay.server.write([UInt8](repeating: 0x17, count: 100_000))
            open()
            #expect(try await peer.readResponse().text == "waited")
        }
    }
}
