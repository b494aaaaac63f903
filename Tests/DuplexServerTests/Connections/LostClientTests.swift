// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWire
import HTTPTypes
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// When a handler is cancelled: its client has reset the connection, or can't be written to.
@Suite("Clients that are lost while a handler is at work", .timeLimit(minutes: 1))
struct LostClientTests {
    private static func get(_ path: String) -> String { HalfClosedAccess.get(path) }

    private static func serve(_ gate: HandlerGate, _ server: inout WebServer) {
        server.get("/wait") { _ in await gate.wait() }
        server.post("/unread") { _ in await gate.wait() }
        server.get("/stream") { _ in
            _ = await gate.wait()
            return Response { writer in
                do {
                    while true { try await writer.write([UInt8](repeating: 0x42, count: 65_536)) }
                } catch {
                    gate.note("\(type(of: error))")
                    throw error
                }
            }
        }
    }

    private static func with(
        _ way: AccessWay,
        _ body: @escaping @Sendable (HalfClosedAccess, HandlerGate) async throws -> Void
    ) async throws {
        let gate = HandlerGate()
        try await HalfClosedAccess.with(way) { server in
            server.limits = .unlimited
            serve(gate, &server)
        } _: { access in
            try await body(access, gate)
        }
    }

    @Test(
        "A reset cancels the handler at once, before the client's end and after it",
        arguments: [AccessWay.tcp, .memory],
        [false, true]
    )
    func reset(way: AccessWay, isHalfClosed: Bool) async throws {
        try await Self.with(way) { access, gate async throws in
            let peer = try await access.connect()
            try await peer.send(Self.get("/wait"))
            await gate.hasBegun()
            if isHalfClosed {
                await peer.finishWriting()
                try await access.settle()
            }
            await peer.reset()
            #expect(await gate.next() == "cancelled")
        }
    }

    @Test(
        "So does a reset while nothing is read: other requests wait, or the app takes no more of the body",
        arguments: [AccessWay.tcp, .memory],
        [false, true]
    )
    func resetUnread(way: AccessWay, inBody: Bool) async throws {
        try await Self.with(way) { access, gate async throws in
            let peer = try await access.connect()
            if inBody {
                try await peer.send("POST /unread HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048576\r\n\r\n")
                try await peer.send([UInt8](repeating: 0x42, count: 200_000))
            } else {
                try await peer.send(Self.get("/wait") + Self.get("/wait"))
            }
            await gate.hasBegun()
            try await access.settle()
            await peer.reset()
            #expect(await gate.next() == "cancelled")
        }
    }

    @Test("A client that closes looks like one that has ended its side, until a write fails")
    func closed() async throws {
        try await Self.with(.tcp) { access, gate async throws in
            let peer = try await access.connect()
            try await peer.send(Self.get("/stream"))
            await gate.hasBegun()
            await peer.close()
            try await access.settle()
            gate.open()
            #expect(await gate.next() == "waited")
            #expect(await gate.next() == "CancellationError")
        }
    }

    #if os(Linux)
    @Test("Of a Unix socket the system reports that the client has closed it, which cancels the handler at once")
    func closedUnixSocket() async throws {
        try await Self.with(.unix) { access, gate async throws in
            let peer = try await access.connect()
            try await peer.send(Self.get("/wait"))
            await gate.hasBegun()
            await peer.reset()
            #expect(await gate.next() == "cancelled")
        }
    }

    @Test("A client that has closed is found out by the system's probes although nothing is written to it")
    func probed() async throws {
        let gate = HandlerGate()
        try await HalfClosedAccess.with(.tcp) { server in
            server.idleTimeout = .seconds(1)
            Self.serve(gate, &server)
        } _: { access in
            let peer = try await access.connect()
            try await peer.send(Self.get("/wait"))
            await gate.hasBegun()
            try await peer.socket.withDescriptor { descriptor in
                // How long the system keeps its half of a connection that was closed: by default a minute.
                var seconds: Int32 = 1
                let size = socklen_t(MemoryLayout<Int32>.size)
                let code = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_LINGER2, &seconds, size)
                try #require(code == 0)
            }
            await peer.close()
            #expect(await gate.next() == "cancelled")
        }
    }

    @Test("A client of events that has vanished is found out by heartbeats that it doesn't acknowledge")
    func vanished() async throws {
        let gate = HandlerGate()
        try await HalfClosedAccess.with(.tcp) { server in
            server.idleTimeout = .seconds(1)
            server.events("/events", heartbeat: .seconds(1)) { _ in _ = await gate.wait() }
        } _: { access in
            let peer = try await access.connect()
            try await peer.send(Self.get("/events"))
            await gate.hasBegun()
            try await peer.socket.withDescriptor { try Self.dropAll($0) }
            #expect(await gate.next() == "cancelled")
        }
    }

    /// Has the system drop all that comes for a socket before it is acknowledged, as if the network were gone.
    private static func dropAll(_ descriptor: Int32) throws {
        // One instruction: return 0, the bytes of a packet that are kept (socket(7), SO_ATTACH_FILTER).
        let instructions: [UInt64] = [UInt64(6).littleEndian]
        let code = unsafe instructions.withUnsafeBytes { bytes in
            // How many, and where they are.
            let filter: [UInt] = [1, UInt(bitPattern: bytes.baseAddress)]
            return unsafe setsockopt(descriptor, SOL_SOCKET, 26, filter, socklen_t(2 * MemoryLayout<UInt>.size))
        }
        try #require(code == 0)
    }
    #endif
}
