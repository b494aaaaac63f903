// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

/// Nothing above a channel can tell what moves its bytes: each test is made over TCP and in memory.
@Suite("What lies below a channel can't be told from above")
struct CarrierTests {
    enum Kind: CaseIterable, Sendable {
        case system
        case memory
        /// With an end on each of two loops.
        case memoryAcrossLoops
    }

    private func withSockets(_ kind: Kind, _ body: (Socket, Socket) async throws -> Void) async throws {
        if kind == .system { return try await withPair(body) }
        let group = try EventLoopGroup(loops: kind == .memory ? 1 : 2)
        let link = MemoryLink()
        let near = await link.socket(.near, on: group.next())
        let far = await link.socket(.far, on: group.next())
        do {
            try await body(near, far)
        } catch {
            await group.stop()
            throw error
        }
        await near.reset()
        await far.reset()
        await group.stop()
    }

    /// What comes until the end of the stream.
    private static func rest(_ socket: Socket) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = try await socket.read() { bytes += piece }
        return bytes
    }

    @Test("Bytes go both ways, in any sizes", arguments: Kind.allCases)
    func echo(kind: Kind) async throws {
        try await withSockets(kind) { near, far in
            for size in [1, 100, 2_048, 16 << 10, 64 << 10, 1 << 20] {
                let sent = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
                async let read = far.read(exactly: size)
                try await near.write(sent)
                let received = try await read
                #expect(received == sent)
                async let answer = near.read(exactly: size)
                try await far.write([Array(received.prefix(size / 2)), Array(received.dropFirst(size / 2))])
                #expect(try await answer == sent)
            }
        }
    }

    @Test("The end of the stream comes behind all bytes, and the other way stays open", arguments: Kind.allCases)
    func halfClose(kind: Kind) async throws {
        try await withSockets(kind) { near, far in
            try await near.write("last words")
            await near.finishWriting()
            #expect(try await Self.rest(far) == Array("last words".utf8))
            try await far.write("answer")
            #expect(try await near.read(exactly: 6) == Array("answer".utf8))
            await far.close()
            #expect(try await near.read() == nil)
        }
    }

    @Test("A reset by the peer ends reads and writes", arguments: Kind.allCases)
    func reset(kind: Kind) async throws {
        try await withSockets(kind) { near, far in
            async let read = near.read()
            try await far.write([1])
            #expect(try await read == [1])
            async let failing = near.read()
            await far.reset()
            do {
                _ = try await failing
                Issue.record("the read went on behind a reset")
            } catch let error as SocketError {
                #expect(error.code == .connectionReset)
            }
            await #expect(throws: SocketError.self) { try await near.write([1]) }
        }
    }

    @Test("A writer waits for a reader that is slow, and all bytes arrive", arguments: Kind.allCases)
    func backpressure(kind: Kind) async throws {
        try await withSockets(kind) { near, far in
            let total = 32 << 20
            async let written: Void = near.write([UInt8](repeating: 7, count: total))
            var received = 0
            while received < total, let bytes = try await far.read(upTo: 1 << 20) { received += bytes.count }
            #expect(received == total)
            try await written
            #expect(await near.bytesSent == UInt64(total))
        }
    }

    @Test("Closing sends what was written, although bytes lie unread", arguments: Kind.allCases)
    func closing(kind: Kind) async throws {
        try await withSockets(kind) { near, far in
            try await far.write("nobody reads this")
            try await near.write([UInt8](repeating: 1, count: 100_000))
            await near.close()
            #expect(try await Self.rest(far).count == 100_000)
        }
    }

    @Test("A range of a file is written", arguments: Kind.allCases)
    func file(kind: Kind) async throws {
        let content = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try await TestFile.with(content) { file in
            try await withSockets(kind) { near, far in
                async let read = far.read(exactly: 500_003)
                try await near.write("abc")
                #expect(try await near.writeFile(file.path, offset: 100_000, count: 500_000) == 500_000)
                #expect(try await read == Array("abc".utf8) + content[100_000..<600_000])
            }
        }
    }

    @Test("TLS goes over either", arguments: Kind.allCases)
    func secured(kind: Kind) async throws {
        try await withSockets(kind) { near, far in
            let server = try TestCertificates.serverOptions()
            async let accepting: Void = far.startTLS(server)
            try await near.startTLS(TestCertificates.clientOptions { $0.serverName = "localhost" })
            try await accepting
            let sent = [UInt8](repeating: 9, count: 1 << 20)
            async let read = far.read(exactly: sent.count)
            try await near.write(sent)
            #expect(try await read == sent)
            await near.close()
            #expect(try await far.read() == nil)
            #expect(await far.tls != nil)
        }
    }

    @Test("A loop that stops closes what waits, and whoever reads is told", arguments: Kind.allCases)
    func loopStops(kind: Kind) async throws {
        try await withSockets(kind) { near, _ in
            let read = Task(executorPreference: near.loop) { try await near.read() }
            // In front of the stop, which is handed in behind it.
            try await near.loop.run { _ in }
            await near.loop.stop()
            let error = await #expect(throws: SocketError.self) { try await read.value }
            #expect(error?.code == .loopStopped)
        }
    }

    @Test("Addresses are what the system says, or what was pretended")
    func addresses() async throws {
        try await withLoop { loop in
            let link = MemoryLink()
            let address = try SocketAddress("192.0.2.1", port: 80)
            let near = await link.socket(.near, on: loop, remoteAddress: address)
            #expect(near.localAddress == nil && near.remoteAddress == address)
            let error = await #expect(throws: SocketError.self) { try await near.options() }
            #expect(error?.code == .system)
            await near.reset()
        }
    }
}
