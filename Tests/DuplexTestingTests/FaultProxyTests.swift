// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// How long a read may take before the test fails instead of hanging.
private let patience = Duration.limit(seconds: 30)

/// Runs the body with a proxy in front of a server that echoes.
private func withEcho(_ faults: Faults = .none, _ body: (FaultProxy) async throws -> Void) async throws {
    let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
    let server = Task {
        try await listener.serve { socket in
            // How a connection ends is the clients' business here.
            while let bytes = try? await socket.read() { try? await socket.write(bytes) }
        }
    }
    do {
        try await FaultProxy.withProxy(to: .address(listener.localAddress), faults: faults, body)
    } catch {
        server.cancel()
        throw error
    }
    server.cancel()
    await #expect(throws: CancellationError.self) { try await server.value }
}

@Suite struct FaultProxyTests {
    private static let text = Array("All that is written comes back.".utf8)

    @Test("Without faults it passes everything on, both ways, and the ends of both streams")
    func nothing() async throws {
        try await withEcho { proxy in
            let socket = try await Socket.connect(to: proxy.endpoint)
            let payload = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            async let written: Void = socket.write(payload)
            #expect(try await socket.read(exactly: payload.count, timeout: patience) == payload)
            try await written
            #expect(proxy.counters.open == 1)
            await socket.finishWriting()
            #expect(try await socket.read(timeout: patience) == nil)
            let counters = try await proxy.wait { $0.open == 0 }
            #expect(counters.accepted == 1)
            #expect(counters.toServer.bytes == payload.count)
            #expect(counters.toClient.bytes == payload.count)
            #expect(counters.resets == 0)
            await socket.close()
        }
    }

    @Test("It cuts what is sent into pieces")
    func splitting() async throws {
        try await withEcho(.split(every: 2, in: .toServer)) { proxy in
            let socket = try await Socket.connect(to: proxy.endpoint)
            try await socket.write(Self.text)
            #expect(try await socket.read(exactly: Self.text.count, timeout: patience) == Self.text)
            let counters = try await proxy.wait { $0.toServer.bytes == Self.text.count }
            #expect(counters.toServer == proxy.counters.toServer)
            #expect(counters.toServer.bytes == Self.text.count)
            #expect(counters.toServer.pieces == (Self.text.count + 1) / 2)
            await socket.reset()
        }
    }

    @Test("The receiver of pieces that are released one by one sees each of them by itself")
    func delaying() async throws {
        try await withEcho(.stall(every: 3, in: .toClient)) { proxy in
            let socket = try await Socket.connect(to: proxy.endpoint)
            try await socket.write(Self.text)
            var received: [UInt8] = []
            while received.count < Self.text.count {
                try await proxy.wait { $0.stalled == 1 }
                // Nothing comes by itself.
                await #expect(throws: SocketError.self) { try await socket.read(timeout: .milliseconds(1)) }
                proxy.release(.toClient, pieces: 1)
                let piece = try #require(try await socket.read(timeout: patience))
                #expect(piece.count == min(3, Self.text.count - received.count))
                received += piece
            }
            #expect(received == Self.text)
            await socket.reset()
        }
    }

    /// Whether a connection was reset, perhaps before the client had seen that it is there.
    private static func isReset(_ error: any Error) -> Bool {
        let error = error as? SocketError
        return error?.code == .connectionReset || error?.causes.first?.errno == ECONNRESET
    }

    @Test("The connection is lost after so many bytes, on both sides", arguments: [0, 1, 12])
    func resetting(count: Int) async throws {
        try await withEcho(.reset(after: count, in: .toClient)) { proxy in
            var received: [UInt8] = []
            await #expect {
                let socket = try await Socket.connect(to: proxy.endpoint)
                try? await socket.write(Self.text)
                while let bytes = try await socket.read(timeout: patience) { received += bytes }
            } throws: {
                Self.isReset($0)
            }
            #expect(received == Array(Self.text.prefix(count)))
            let counters = try await proxy.wait { $0.resets == 1 }
            #expect(counters.toClient.bytes == count)
            #expect(counters.open == 0)
        }
    }

    @Test("Faults that are set while a connection is open hold from there on")
    func setting() async throws {
        try await withEcho { proxy in
            let socket = try await Socket.connect(to: proxy.endpoint)
            try await socket.write("hello")
            #expect(try await socket.read(exactly: 5, timeout: patience) == Array("hello".utf8))
            proxy.faults = .split(every: 1, resetAfter: 8, in: .toServer)
            #expect(proxy.faults.toServer.resetAfter == 8)
            try await socket.write("12345678")
            await #expect(throws: SocketError.self) {
                while try await socket.read(timeout: patience) != nil {}
            }
            let counters = try await proxy.wait { $0.resets == 1 }
            #expect(counters.toServer.bytes == 13)
            await socket.reset()
        }
    }

    @Test("A stream ends early in one direction, and goes on in the other")
    func ending() async throws {
        try await withEcho(.end(after: 4, in: .toClient)) { proxy in
            let socket = try await Socket.connect(to: proxy.endpoint)
            try await socket.write(Self.text)
            #expect(try await socket.read(exactly: 4, timeout: patience) == Array(Self.text.prefix(4)))
            #expect(try await socket.read(timeout: patience) == nil)
            try await socket.write(Self.text)
            try await proxy.wait { $0.toServer.bytes == 2 * Self.text.count && $0.ends == 1 }
            #expect(proxy.counters.toClient.bytes == 4)
            await socket.reset()
        }
    }

    @Test(
        "A stream stalls until it is released, while the other direction goes on",
        arguments: Faults.Direction.allCases
    )
    func stalling(direction: Faults.Direction) async throws {
        try await withEcho(.stall(after: 6, in: direction)) { proxy in
            let socket = try await Socket.connect(to: proxy.endpoint)
            try await socket.write(Self.text)
            #expect(try await socket.read(exactly: 6, timeout: patience) == Array(Self.text.prefix(6)))
            try await proxy.wait { $0.stalled == 1 }
            await #expect { try await socket.read(timeout: .milliseconds(5)) } throws: {
                ($0 as? SocketError)?.code == .timedOut
            }
            proxy.release(direction)
            let rest = Array(Self.text.dropFirst(6))
            #expect(try await socket.read(exactly: rest.count, timeout: patience) == rest)
            #expect(try await proxy.wait { $0.stalled == 0 }.resets == 0)
            await socket.reset()
        }
    }

    @Test("What was released beforehand isn't stalled")
    func releasedBefore() async throws {
        try await withEcho(.stall()) { proxy in
            let socket = try await Socket.connect(to: proxy.endpoint)
            try await proxy.wait { $0.open == 1 }
            proxy.release()
            try await socket.write(Self.text)
            #expect(try await socket.read(exactly: Self.text.count, timeout: patience) == Self.text)
            await socket.reset()
        }
    }

    @Test("A stalled stream goes on when the faults are taken away, and its connection can end meanwhile")
    func stalledOnes() async throws {
        try await withEcho(.stall(in: .toServer)) { proxy in
            let (first, second) = (
                try await Socket.connect(to: proxy.endpoint), try await Socket.connect(to: proxy.endpoint)
            )
            try await first.write(Self.text)
            try await second.write(Self.text)
            try await proxy.wait { $0.stalled == 2 }
            await proxy.resetConnections()
            try await proxy.wait { $0.stalled == 0 && $0.open == 0 }
            #expect(proxy.counters.resets == 2)
            let third = try await Socket.connect(to: proxy.endpoint)
            try await third.write(Self.text)
            try await proxy.wait { $0.stalled == 1 }
            proxy.faults = .none
            #expect(try await third.read(exactly: Self.text.count, timeout: patience) == Self.text)
            for socket in [first, second, third] { await socket.reset() }
        }
    }

    @Test("It refuses connections and takes them again, at the same address, and open ones live on")
    func refusing() async throws {
        try await withEcho { proxy in
            let open = try await Socket.connect(to: proxy.endpoint)
            try await proxy.wait { $0.open == 1 }
            for _ in 0..<2 {
                await proxy.refuseConnections()
                #expect(await comesToRefuse(proxy.endpoint))
                try await open.write("still")
                #expect(try await open.read(exactly: 5, timeout: patience) == Array("still".utf8))
                try await proxy.acceptConnections()
                let socket = try await Socket.connect(to: proxy.endpoint)
                try await socket.write("again")
                #expect(try await socket.read(exactly: 5, timeout: patience) == Array("again".utf8))
                await socket.reset()
            }
            await open.reset()
        }
    }

    @Test("A client whose server can't be reached is reset")
    func unreachable() async throws {
        let port = try ReservedPort()
        defer { withExtendedLifetime(port) {} }
        try await FaultProxy.withProxy(to: .address(port.address)) { proxy in
            await #expect {
                _ = try await Socket.connect(to: proxy.endpoint).read(timeout: patience)
            } throws: {
                Self.isReset($0)
            }
            try await proxy.wait { $0.unreachable == 1 }
            #expect(proxy.counters.open == 0)
        }
    }

    @Test("Connections lead to the server that is the target when they come, and stay with it")
    func otherTarget() async throws {
        let (one, other) = (try await Self.teller("1"), try await Self.teller("2"))
        try await FaultProxy.withProxy(to: .address(one.address)) { proxy in
            let first = try await Socket.connect(to: proxy.endpoint)
            #expect(try await first.read(exactly: 1, timeout: patience) == Array("1".utf8))
            proxy.target = .address(other.address)
            let second = try await Socket.connect(to: proxy.endpoint)
            #expect(try await second.read(exactly: 1, timeout: patience) == Array("2".utf8))
            try await first.write("?")
            #expect(try await first.read(exactly: 1, timeout: patience) == Array("1".utf8))
            await first.reset()
            await second.reset()
        }
        for server in [one.task, other.task] {
            server.cancel()
            await #expect(throws: CancellationError.self) { try await server.value }
        }
    }

    /// A server that says its name at the beginning, and for each piece that comes.
    private static func teller(_ name: String) async throws -> (address: SocketAddress, task: Task<Void, any Error>) {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let task = Task {
            try await listener.serve { socket in
                try await socket.write(name)
                while try await socket.read() != nil { try await socket.write(name) }
            }
        }
        return (listener.localAddress, task)
    }

    @Test("A server that resets is seen as one that resets")
    func passedOn() async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let server = Task { try await listener.serve { socket in socket.reset() } }
        try await FaultProxy.withProxy(to: .address(listener.localAddress)) { proxy in
            await #expect {
                _ = try await Socket.connect(to: proxy.endpoint).read(timeout: patience)
            } throws: {
                Self.isReset($0)
            }
            let counters = try await proxy.wait { $0.open == 0 }
            #expect(counters.resets == 0)
        }
        server.cancel()
        await #expect(throws: CancellationError.self) { try await server.value }
    }

    @Test("Stopping resets what is open, even if it is stalled, and gives up its port")
    func stopping() async throws {
        try await withEcho(.stall(in: .toClient)) { other in
            let proxy = try await FaultProxy.start(to: other.endpoint, faults: .stall(in: .toServer))
            let endpoint = proxy.endpoint
            let socket = try await Socket.connect(to: endpoint)
            try await socket.write(Self.text)
            try await proxy.wait { $0.stalled == 1 }
            await proxy.stop()
            await #expect(throws: SocketError.self) { try await socket.read(timeout: patience) }
            #expect(proxy.counters.open == 0)
            #expect(proxy.counters.stalled == 0)
            #expect(await comesToRefuse(endpoint))
            await proxy.stop()
            await socket.reset()
        }
    }
}
