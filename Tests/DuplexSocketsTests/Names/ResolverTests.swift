// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct ResolverTests {
    /// What somebody may write outside of the library.
    private struct Documentation: Resolver {
        func resolve(_ host: String) async throws -> Resolution {
            Resolution([try SocketAddress("192.0.2.1", port: 0)], timeToLive: .seconds(host.count))
        }
    }

    @Test("A resolver of one's own goes wherever the others go")
    func own() async throws {
        let resolution = try await ChainedResolver(Documentation(), timeout: .seconds(3_600)).resolve("host")
        #expect(resolution.addresses.map(\.host) == ["192.0.2.1"])
        #expect(resolution.timeToLive == .seconds(4))
    }

    @Test("A resolution has no time to live by default")
    func timeToLive() {
        #expect(Resolution([]).timeToLive == nil)
        #expect(Resolution([]) != Resolution([], timeToLive: .seconds(1)))
    }
}
