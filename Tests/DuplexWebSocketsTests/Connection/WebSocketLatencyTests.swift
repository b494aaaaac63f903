// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

@Suite(.timeLimit(minutes: 1)) struct WebSocketLatencyTests {
    @Test("Each ping adds a round trip, on the side that sent it")
    func pings() async throws {
        try await withPair { client, server in
            let before = await client.latency
            #expect(before == Latency())
            for _ in 0..<3 { _ = try await client.ping() }
            let latency = await client.latency
            #expect(latency.count == 3)
            let (last, minimum) = (try #require(latency.last), try #require(latency.minimum))
            #expect(minimum > .zero && minimum <= last)
            #expect(latency.smoothed != nil && latency.jitter != nil && latency.percentile(50) != nil)
            let other = await server.latency
            #expect(other.count == 0)
        }
    }

    @Test("The round trips of pings by interval are told of to all who watch, while nobody receives")
    func watching() async throws {
        var options = WebSocketOptions()
        options.pings = .every(.milliseconds(1), timeout: .seconds(50))
        try await withServer { server in
            server.webSocket("/") { socket in for try await _ in socket.messages {} }
        } _: { [options] address in
            let client = try await WebSocket.connect(to: "ws://\(address)/", options: options)
            let streams = [await client.roundTrips(), await client.roundTrips()]
            for stream in streams {
                var iterator = stream.makeAsyncIterator()
                for _ in 0..<3 {
                    let roundTrip = await iterator.next()
                    #expect(roundTrip.map { $0 >= .zero } == true)
                }
            }
            let latency = await client.latency
            #expect(latency.count >= 3)
            await client.close()
        }
    }

    @Test("The stream ends with the connection, and for who asks later at once")
    func ending() async throws {
        try await withPair { client, _ in
            let stream = await client.roundTrips()
            _ = try await client.ping()
            await client.close()
            var count = 0
            for await _ in stream { count += 1 }
            #expect(count == 1)
            for await _ in await client.roundTrips() { Issue.record("There are no round trips any more.") }
        }
    }
}
