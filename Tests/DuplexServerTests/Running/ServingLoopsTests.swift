// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTesting
import Testing

@testable import DuplexServer

@Suite("A server at work on its loops")
struct ServingLoopsTests {
    @Test("It serves connections wherever they come from, tells what is under way, and ends")
    func serving() async throws {
        try await TestLoop.run { loop in
            var server = WebServer(port: 0)
            server.logger = RecordedLog().logger
            server.get("/slow") { _ in
                let (never, continuation) = AsyncStream<Never>.makeStream()
                defer { continuation.finish() }
                for await _ in never {}
                return "cancelled"
            }
            let serving = try ServingLoops(server, on: loop.group)
            #expect(await !serving.hasConnections)
            let link = MemoryLink()
            await loop.loop.make { core in
                serving.accept(link.channel(.far, on: loop.loop, core), from: nil, on: loop.loop)
            }
            let peer = RawPeer(await link.socket(.near, on: loop.loop), masks: true)
            try await peer.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await loop.settle()
            #expect(await serving.hasConnections)
            #expect(await serving.runningRoutes == ["GET /slow"])
            serving.beginToEnd()
            #expect(try await peer.readResponse().text == "cancelled")
            await peer.close()
            await serving.end(leavingHandlers: false)
            #expect(await !serving.hasConnections)
            #expect(await serving.runningRoutes == [])
        }
    }

    @Test("The end makes haste with a shorter limit, and doesn't with a longer one", arguments: [true, false])
    func haste(isShorterFirst: Bool) async throws {
        try await TestLoop.run { loop in
            let (gates, gate) = AsyncStream<Never>.makeStream()
            // Waiting for it can't be cancelled.
            let opened = Task { for await _ in gates {} }
            var server = WebServer(port: 0)
            server.logger = RecordedLog().logger
            server.get("/slow") { _ async in
                await opened.value
                return "late"
            }
            let serving = try ServingLoops(server, on: loop.group)
            let link = MemoryLink()
            await loop.loop.make { core in
                serving.accept(link.channel(.far, on: loop.loop, core), from: nil, on: loop.loop)
            }
            let peer = RawPeer(await link.socket(.near, on: loop.loop), masks: true)
            try await peer.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await loop.settle()
            for limit in isShorterFirst ? [1, 3_600] : [3_600, 1] { serving.beginToEnd(within: .seconds(limit)) }
            await loop.advance(by: .milliseconds(900))
            #expect(await serving.hasConnections)
            await loop.advance(by: .milliseconds(200))
            #expect(await !serving.hasConnections)
            gate.finish()
            await serving.end(leavingHandlers: false)
        }
    }

    @Test("Routes that contradict each other are an error before anything runs")
    func routes() async throws {
        try await TestLoop.run { loop in
            var server = WebServer(port: 0)
            server.get("no slash") { _ in "" }
            #expect(throws: RouteError.self) { try ServingLoops(server, on: loop.group) }
        }
    }
}

@Suite struct AddressCounterTests {
    private func address(_ host: String, port: Int = 1) throws -> SocketAddress { try SocketAddress(host, port: port) }

    @Test("As many as allowed are let in from one address, whatever their ports, and another when one has left")
    func limit() throws {
        let counter = AddressCounter(limit: 2)
        let first = try address("192.0.2.1", port: 1)
        let second = try address("192.0.2.1", port: 2)
        #expect(counter.enter(first) && counter.enter(second))
        #expect(!counter.enter(first))
        #expect(counter.enter(try address("192.0.2.2")))
        counter.leave(second)
        #expect(counter.enter(first))
        #expect(!counter.enter(second))
    }

    @Test("Of an IPv6 address the first 64 bits count")
    func networks() throws {
        let counter = AddressCounter(limit: 1)
        #expect(counter.enter(try address("2001:db8:0:1::1")))
        #expect(!counter.enter(try address("2001:db8:0:1:ffff::9")))
        #expect(counter.enter(try address("2001:db8:0:2::1")))
    }

    @Test("Nothing is kept of an address that has left")
    func leaving() throws {
        let counter = AddressCounter(limit: 10)
        let address = try address("192.0.2.1")
        for _ in 0..<3 { #expect(counter.enter(address)) }
        #expect(counter.addressCount == 1)
        for _ in 0..<3 { counter.leave(address) }
        #expect(counter.addressCount == 0)
    }

    @Test("This machine, Unix sockets and unknown addresses aren't counted, and nothing is without a limit")
    func uncounted() throws {
        let counter = AddressCounter(limit: 1)
        for address in [try address("127.0.0.1"), try address("::1"), try SocketAddress.unix("/tmp/a"), nil] {
            #expect(counter.enter(address) && counter.enter(address))
            counter.leave(address)
        }
        #expect(counter.addressCount == 0)
        let unlimited = AddressCounter(limit: .max)
        for _ in 0..<5 { #expect(unlimited.enter(try self.address("192.0.2.1"))) }
        #expect(unlimited.addressCount == 0)
    }
}
