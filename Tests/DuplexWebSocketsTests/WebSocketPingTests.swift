// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

/// The part of WebSocketSending.swift that sends pings.
@Suite struct WebSocketPingTests {
    @Test("A ping returns the round trip")
    func roundTrip() async throws {
        try await withPair { client, server in
            let roundTrips = [try await client.ping(), try await server.ping()]
            #expect(roundTrips.allSatisfy { $0 > .zero && $0 < .seconds(20) })
        }
    }

    @Test("A ping that isn't answered times out alone")
    func timeout() async throws {
        try await withClient { socket, peer in
            await expect(.timedOut) { _ = try await socket.ping(timeout: .milliseconds(20)) }
            let late = try await peer.readFrame()
            try await peer.send(.pong(late.payload), .text("still here"))
            #expect(try await socket.receive() == "still here")
            let ping = await waiting(on: socket) { socket in try await socket.ping() }
            try await peer.send(.pong(try await peer.readFrame().payload))
            #expect(try await ping.value > .zero)
        }
    }

    @Test("A pong answers its ping and those before it, and not those after")
    func severalPings() async throws {
        try await withClient { socket, peer in
            let pings = [
                await waiting(on: socket) { try await $0.ping() },
                await waiting(on: socket) { try await $0.ping() },
                await waiting(on: socket) { try await $0.ping(timeout: .milliseconds(50)) },
            ]
            _ = try await peer.readFrame()
            try await peer.send(.pong(try await peer.readFrame().payload))
            #expect(try await pings[0].value > .zero)
            #expect(try await pings[1].value > .zero)
            await expect(.timedOut) { _ = try await pings[2].value }
        }
    }

    @Test(
        "A pong that nobody asked for is ignored",
        arguments: [[], [1, 2, 3], [0, 0, 0, 0, 0, 0, 0, 99]] as [[UInt8]]
    )
    func unaskedPong(payload: [UInt8]) async throws {
        try await withClient { socket, peer in
            let ping = await waiting(on: socket) { try await $0.ping(timeout: .milliseconds(50)) }
            try await peer.send(.pong(payload), .text("on"))
            #expect(try await socket.receive() == "on")
            await expect(.timedOut) { _ = try await ping.value }
        }
    }

    @Test("Cancelling a task that waits for a pong ends the wait at once")
    func cancelled() async throws {
        try await withClient { socket, peer in
            let ping = await waiting(on: socket) { socket in try await socket.ping() }
            ping.cancel()
            await #expect(throws: CancellationError.self) { _ = try await ping.value }
            try await peer.send(.pong(try await peer.readFrame().payload), .text("on"))
            #expect(try await socket.receive() == "on")
        }
    }

    @Test("A task that waits for a pong is told when the connection ends")
    func ended() async throws {
        try await withClient { socket, peer in
            let lost = await waiting(on: socket) { socket in try await socket.ping() }
            await peer.reset()
            await expect(.connectionLost) { _ = try await lost.value }
        }
        try await withPair { client, server in
            let closed = await waiting(on: client) { socket in try await socket.ping() }
            await server.close()
            // The pong may have come first.
            if case .failure(let error) = await closed.result { #expect((error as? WebSocketError)?.code == .closed) }
            await expect(.closed) { _ = try await client.ping() }
        }
    }
}
