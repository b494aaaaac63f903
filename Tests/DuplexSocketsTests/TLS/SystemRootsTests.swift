// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Synchronization
import Testing

@testable import DuplexSockets

@Suite(.timeLimit(minutes: 1)) struct SystemRootsTests {
    private func read(_ roots: SystemRoots) async throws -> RootStore {
        let pending = PendingResult<RootStore>()
        roots.read { pending.finish($0) }
        return try await pending.value {}
    }

    @Test("The roots are read once, on a thread of their own, however many options are made meanwhile")
    func once() async throws {
        let gated = try GatedRoots()
        // Neither these calls nor the contexts wait for the gate.
        for _ in 0..<3 { _ = try gated.options.context() }
        async let first = read(gated.roots)
        async let second = read(gated.roots)
        #expect(gated.roots.store == nil)
        gated.open()
        let stores = try await [first, second]
        #expect(stores[0] === stores[1] && gated.roots.store === stores[0])
        #expect(try gated.roots.readNow() === stores[0])
        #expect(gated.count == 1)
    }

    @Test("An error isn't kept: the next one to ask has them read again")
    func failure() async throws {
        let gated = try GatedRoots(.failure(SocketError(.tls, message: "no roots")))
        for count in 1...2 {
            gated.open()
            await #expect { try await read(gated.roots) } throws: { ($0 as? SocketError)?.message == "no roots" }
            #expect(gated.count == count && gated.roots.store == nil)
        }
    }

    @Test("A server has them read when it is set up")
    func server() throws {
        let gated = try GatedRoots()
        gated.open()
        let server = try TestCertificates.serverOptions {
            $0.clientCertificates = .required(gated.options.trust.withAnyName())
        }
        let client = try TestCertificates.clientOptions { $0.identity = try? TestCertificates.client }
        let pair = try EnginePair(client, server)
        pair.run()
        #expect(pair.client.isComplete && pair.server.isComplete && pair.server.failure == nil)
    }
}
