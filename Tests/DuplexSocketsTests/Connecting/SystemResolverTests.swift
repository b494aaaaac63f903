// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct SystemResolverTests {
    private func resolve(_ host: String, port: Int = 80) async throws -> [SocketAddress] {
        try await withCheckedThrowingContinuation { continuation in
            SystemResolver.resolve(host, port: port) { continuation.resume(with: $0) }
        }
    }

    @Test("The name localhost has loopback addresses, each once, with the port that was asked for")
    func localhost() async throws {
        let addresses = try await resolve("localhost", port: 4_711)
        #expect(!addresses.isEmpty)
        #expect(Set(addresses).count == addresses.count)
        #expect(addresses.allSatisfy { ($0.host == "::1" || $0.host.hasPrefix("127.")) && $0.port == 4_711 })
    }

    @Test("A name that doesn't exist fails with unknownHost and says which name")
    func unknown() async throws {
        await #expect { try await resolve("nosuchhost.invalid") } throws: {
            let error = $0 as? SocketError
            return error?.code == .unknownHost && error?.message.contains("nosuchhost.invalid") == true
        }
    }

    @Test("More look-ups than run at once all end")
    func many() async throws {
        try await withThrowingTaskGroup(of: Int?.self) { group in
            for port in 1...50 {
                group.addTask { try await resolve("127.0.0.1", port: port).first?.port }
            }
            var ports: Set<Int?> = []
            for try await port in group { ports.insert(port) }
            #expect(ports == Set(1...50))
        }
    }
}
