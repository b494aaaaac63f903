// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

/// Clients that hold connections by doing nearly nothing: RFC 9110 section 15.5.9, RFC 9112 section 9.5.
@Suite struct SlowClientTests {
    /// How many handlers are at work, and how many have failed.
    private final class Count: Sendable {
        let state = Mutex((running: 0, failed: 0))

        func run(_ work: () async throws -> Void) async throws {
            state.withLock { $0.running += 1 }
            defer { state.withLock { $0.running -= 1 } }
            do {
                try await work()
            } catch {
                state.withLock { $0.failed += 1 }
                throw error
            }
        }
    }

    private static func server(_ count: Count = Count()) -> WebServer {
        var server = WebServer(port: 0)
        server.get("/") { _ in "here" }
        server.post("/") { request in
            try await count.run { _ = try await request.body.collect() }
            return "taken"
        }
        server.get("/endless") { _ in
            Response(type: "text/plain") { writer in
                try await count.run { while true { try await writer.write([UInt8](repeating: 0x78, count: 16_384)) } }
            }
        }
        server.get("/long") { _ in Response(body: [UInt8](repeating: 0x78, count: 400_000)) }
        return server
    }

    @Test("Heads that come a byte a second are 408 after their time, of however many clients")
    func slowHeads() async throws {
        try await Self.server().test { client async throws in
            var connections: [TestConnection] = []
            for _ in 0..<200 { connections.append(await client.connect()) }
            for byte in "GET / HTTP/1.".utf8.prefix(10) {
                for connection in connections { try await connection.send(raw: [byte]) }
                await client.clock.advance(by: .seconds(1))
                #expect(try await client.get("/").text == "here")
            }
            for connection in connections {
                let response = try await connection.response()
                #expect(response.status == .requestTimeout && response.headers[.connection] == "close")
                #expect(try await connection.receive() == nil)
                await connection.close()
            }
        }
    }

    @Test("A head that comes a byte at a time within its time is answered, and so is the next")
    func patientHeads() async throws {
        try await Self.server().test { client async throws in
            let connection = await client.connect()
            for _ in 0..<3 {
                for byte in "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8 {
                    await client.clock.advance(by: .milliseconds(250))
                    try await connection.send(raw: [byte])
                }
                #expect(try await connection.response().text == "here")
                // Idle time is another.
                await client.clock.advance(by: .seconds(59))
            }
            await connection.close()
        }
    }

    @Test(
        "Bodies slower than they may be are 408, and their handlers see that",
        arguments: ["Content-Length: 100000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n186a0\r\n"]
    )
    func slowBodies(head: String) async throws {
        let count = Count()
        try await Self.server(count).test { client async throws in
            let slow = await client.connect()
            let fast = await client.connect()
            for connection in [slow, fast] {
                try await connection.send(raw: "POST / HTTP/1.1\r\nHost: localhost\r\n\(head)")
            }
            // Of 512 bytes a second, one sends a half and the other twice as much.
            for _ in 0..<20 {
                try await slow.send(raw: [UInt8](repeating: 0x78, count: 256))
                try await fast.send(raw: [UInt8](repeating: 0x78, count: 1_024))
                await client.clock.advance(by: .seconds(1))
            }
            #expect(try await slow.response().status == .requestTimeout)
            #expect(count.state.withLock { $0 } == (running: 1, failed: 1))
            try await fast.send(raw: [UInt8](repeating: 0x78, count: 100_000 - 20 * 1_024))
            if head.hasPrefix("T") { try await fast.send(raw: "\r\n0\r\n\r\n") }
            #expect(try await fast.response().text == "taken")
            await slow.close()
            await fast.close()
        }
    }

    @Test("Who reads nothing is cut off after the idle time, and what writes for it ends; who reads slowly is served")
    func slowReaders() async throws {
        let count = Count()
        try await Self.server(count).test { client async throws in
            client.capacity = .kibibytes(4)
            let stuck = await client.connect()
            try await stuck.send(.get, "/endless")
            let slow = await client.connect()
            slow.network.setFaults(.slow(4_096, every: .seconds(1), in: .toClient))
            try await slow.send(.get, "/long")
            let response = await client.loop.begin { try await slow.response() }
            await client.clock.advance(by: .seconds(59))
            #expect(count.state.withLock { $0 } == (running: 1, failed: 0))
            for _ in 0..<60 { await client.clock.advance(by: .seconds(1)) }
            #expect(count.state.withLock { $0 } == (running: 0, failed: 1))
            #expect(try await response.value.body.count == 400_000)
            #expect(try await client.get("/").text == "here")
            await stuck.close()
            await slow.close()
        }
    }

    @Test("Connections without a request are closed without a word after the idle time, of however many clients")
    func idle() async throws {
        try await Self.server().test { client async throws in
            var connections: [TestConnection] = []
            for _ in 0..<200 {
                let connection = await client.connect()
                #expect(try await connection.get("/").text == "here")
                connections.append(connection)
            }
            await client.clock.advance(by: .seconds(60))
            for connection in connections { #expect(try await connection.receive() == nil) }
        }
    }
}
