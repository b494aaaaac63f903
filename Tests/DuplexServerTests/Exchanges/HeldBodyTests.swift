// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

/// Bodies that come faster than their handlers take them, so that the connection stops reading; see also ExchangeTests.
@Suite("Bodies that are held back", .timeLimit(minutes: 1))
struct HeldBodyTests {
    private static func request(_ path: String, _ size: Int) -> [UInt8] {
        let head = "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(size)\r\n\r\n"
        return Array(head.utf8) + [UInt8](repeating: 0x61, count: size)
    }

    /// A server whose handlers wait for the gate before they look at the body.
    private static func server(_ gate: AsyncStream<Never>, _ isCancelled: AsyncStream<Void>.Continuation) -> WebServer {
        var server = WebServer(port: 0)
        server.post("/late") { request in
            for await _ in gate {}
            return "\(try await request.body.collect().count)"
        }
        server.post("/part") { request in
            for await _ in gate {}
            for try await piece in request.body { return "\(piece.count)" }
            return "nothing"
        }
        server.post("/never") { _ in
            for await _ in gate {}
            return "unread"
        }
        server.post("/left") { _ in
            for await _ in gate {}
            if Task.isCancelled { isCancelled.yield() }
            return ""
        }
        server.get("/") { _ in "here" }
        return server
    }

    @Test(
        "The connection goes on behind one that was taken late, in part or never, or ends in order",
        arguments: ["/late", "/part", "/never"],
        [60_000, 65_536, 100_000, 130_000, 200_000, 1_000_000]
    )
    func goesOn(path: String, size: Int) async throws {
        let (gate, keeper) = AsyncStream<Never>.makeStream()
        let (_, isCancelled) = AsyncStream<Void>.makeStream()
        try await Self.server(gate, isCancelled).test { client async throws in
            let connection = await client.connect()
            let sending = Task { try await connection.send(raw: Self.request(path, size)) }
            await client.loop.settle()
            keeper.finish()
            let response = try await connection.response()
            #expect(response.status == .ok)
            if path == "/late" { #expect(response.text == "\(size)") }
            if response.headers[.connection] == "close" {
                #expect(path != "/late" && size > 65_536)
                #expect(try await connection.receiveAll().isEmpty)
            } else {
                #expect(try await connection.get("/").text == "here")
                // The idle time counts again.
                await client.clock.advance(by: .seconds(120))
                #expect(try await connection.receiveAll().isEmpty)
            }
            await connection.close()
            _ = await sending.result
        }
    }

    @Test("A client that resets while one lies there whole is seen to go")
    func left() async throws {
        let (gate, _) = AsyncStream<Never>.makeStream()
        let (cancellations, isCancelled) = AsyncStream<Void>.makeStream()
        try await Self.server(gate, isCancelled).test { client async throws in
            let connection = await client.connect()
            try await connection.send(raw: Self.request("/left", 100_000))
            await client.loop.settle()
            await connection.reset()
            for await _ in cancellations { break }
        }
    }
}
