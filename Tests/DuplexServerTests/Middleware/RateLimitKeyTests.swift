// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexServer

@Suite("Clients that ask too often")
struct RateLimitKeyTests {
    private func testing(_ option: RouteOption, _ body: (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        server.use(option)
        server.get("/") { _ in "" }
        server.webSocket("/socket") { _ in }
        try await server.test(body)
    }

    @Test("They get 429 with the time to wait, and are let in when that has passed")
    func refused() async throws {
        try await testing(.rateLimit(.perMinute(6, burst: 2))) { client async throws in
            client.address = try SocketAddress("192.0.2.1", port: 1)
            for _ in 0..<2 { #expect(try await client.get("/").status == .ok) }
            let refused = try await client.get("/nothing")
            #expect(refused.status == .tooManyRequests && refused.headers[.retryAfter] == "10")
            await client.clock.advance(by: .milliseconds(9_500))
            #expect(try await client.get("/").headers[.retryAfter] == "1")
            await #expect(throws: WebSocketError.self) { try await client.webSocket("/socket") }
            await client.clock.advance(by: .milliseconds(500))
            #expect(try await client.get("/").status == .ok)
            #expect(try await client.get("/").status == .tooManyRequests)
        }
    }

    @Test("Each IPv4 address has its own, and each network of IPv6; this machine's isn't counted")
    func addresses() async throws {
        try await testing(.rateLimit(.perSecond(1))) { client async throws in
            func status(_ address: String) async throws -> HTTPResponse.Status {
                client.address = try SocketAddress(address, port: 1)
                return try await client.get("/").status
            }
            #expect(try await status("192.0.2.1") == .ok)
            #expect(try await status("192.0.2.2") == .ok)
            #expect(try await status("192.0.2.1") == .tooManyRequests)
            #expect(try await status("2001:db8::1") == .ok)
            #expect(try await status("2001:db8::2:3") == .tooManyRequests)
            #expect(try await status("2001:db8:0:1::1") == .ok)
            #expect(try await status("::ffff:192.0.2.2") == .tooManyRequests)
            for address in ["127.0.0.1", "::1"] {
                for _ in 0..<3 { #expect(try await status(address) == .ok) }
            }
        }
    }

    @Test("They may be counted by what the app makes of a request, or not at all")
    func keys() async throws {
        try await testing(.rateLimit(.perSecond(1), by: .key { $0.head.query })) { client async throws in
            #expect(try await client.get("/?a").status == .ok)
            #expect(try await client.get("/?a").status == .tooManyRequests)
            #expect(try await client.get("/?b").status == .ok)
            for _ in 0..<3 { #expect(try await client.get("/").status == .ok) }
        }
    }

    @Test("A flood of addresses doesn't fill the memory")
    func flood() async throws {
        let buckets = SharedBuckets(interval: RateLimit.perSecond(1).interval, burst: 1, capacity: 100)
        try await testing(.rateLimit(buckets, by: .address)) { client async throws in
            for number in 0..<1_000 {
                client.address = try SocketAddress("198.18.\(number / 256).\(number % 256)", port: 1)
                let connection = await client.connect()
                #expect(try await connection.get("/").status == .ok)
                await connection.close()
            }
            #expect(buckets.count > 10 && buckets.count <= 100)
        }
    }
}
