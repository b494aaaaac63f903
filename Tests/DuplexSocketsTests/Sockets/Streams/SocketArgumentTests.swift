// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

/// A length that came over the wire must not end the process.
@Suite("An argument that is out of range throws")
struct SocketArgumentTests {
    private func expectRefusal(
        at location: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async {
        let error = await #expect(throws: SocketError.self, sourceLocation: location) { try await body() }
        #expect(error?.code == .invalidArgument, sourceLocation: location)
    }

    @Test("Of reads, peeks and water marks, and the socket lives on")
    func socket() async throws {
        try await withMemoryPair { near, far, _ in
            for count in [-1, Int.min] {
                await expectRefusal { _ = try await near.read(exactly: count) }
                await expectRefusal { _ = try await near.read(upTo: count) }
                await expectRefusal { _ = try await near.peek(count) }
                await expectRefusal { _ = try await near.readLine(limit: ByteCount(count)) }
                await expectRefusal { _ = try await near.read(until: "ab", limit: ByteCount(count)) }
                await expectRefusal { try await near.setWaterMarks(high: count, low: count) }
            }
            await expectRefusal { _ = try await near.read(upTo: 0) }
            await expectRefusal { _ = try await near.read(until: "") }
            await expectRefusal { _ = try await near.read(until: "ab", limit: 1) }
            await expectRefusal { try await near.setWaterMarks(high: 1, low: 2) }
            #expect(try await near.read(exactly: 0) == [])
            try await far.write("still here")
            #expect(try await near.read() == Array("still here".utf8))
        }
    }

    @Test("Lengths of any size wait for what comes, and reserve nothing for it")
    func huge() async throws {
        try await withMemoryPair { near, far, loop in
            let read = await loop.begin { try await near.read(exactly: .max) }
            try await far.write([1, 2, 3])
            await far.close()
            let error = await #expect(throws: SocketError.self) { try await read.value }
            #expect(error?.code == .endOfStream)
        }
        try await withMemoryPair { near, far, _ in
            let large = [UInt8](repeating: 1, count: 100_000)
            for _ in 0..<3 {
                async let written: Void = far.write(large)
                var count = 0
                while count < large.count { count += try await near.read(upTo: .max)?.count ?? 0 }
                try await written
            }
        }
    }

    @Test("Of receiving datagrams")
    func datagrams() async throws {
        let socket = try await UDPSocket.bind(.loopback)
        await expectRefusal { _ = try await socket.receive(upTo: 0) }
        await expectRefusal { _ = try await socket.receive(upTo: -5) }
        await socket.close()
    }

    @Test("A server without an identity is an error of its first connection, and doesn't end the process")
    func identities() {
        let error = #expect(throws: SocketError.self) { try TLSServerOptions(ReloadableTLSIdentity([])).context() }
        #expect(error?.code == .invalidCertificate)
    }
}
