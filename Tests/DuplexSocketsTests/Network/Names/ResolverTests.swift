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

@Suite struct StaticResolverTests {
    private let resolver: StaticResolver

    init() throws {
        resolver = try StaticResolver(literals: [
            "Example.com": ["2001:db8::1", "192.0.2.1"], "complete.": ["192.0.2.2"], "empty": [],
        ])
    }

    @Test("A name has its addresses in their order", arguments: ["example.com", "EXAMPLE.com.", "example.COM"])
    func known(host: String) async throws {
        let resolution = try await resolver.resolve(host)
        #expect(resolution.addresses.map(\.host) == ["2001:db8::1", "192.0.2.1"])
        #expect(resolution.addresses.allSatisfy { $0.port == 0 })
        #expect(resolution.timeToLive == nil)
    }

    @Test("A dot at the end doesn't count on either side", arguments: ["complete", "complete."])
    func complete(host: String) async throws {
        #expect(try await resolver.resolve(host).addresses.map(\.host) == ["192.0.2.2"])
    }

    @Test("Other names are unknown", arguments: ["www.example.com", "com", "empty", "", "."])
    func unknown(host: String) async {
        await #expect { try await resolver.resolve(host) } throws: {
            let error = $0 as? SocketError
            return error?.code == .unknownHost && error?.message.contains("“\(host)”") == true
        }
    }

    @Test("Ports that were given don't count, and two spellings add up")
    func addresses() async throws {
        let one = try SocketAddress("192.0.2.1", port: 80)
        let two = try SocketAddress("192.0.2.2", port: 443)
        let resolver = StaticResolver(["a": [two], "A": [one]])
        let addresses = try await resolver.resolve("a").addresses
        #expect(addresses.map(\.description) == ["192.0.2.1:0", "192.0.2.2:0"])
    }

    @Test("What isn't an address is refused")
    func invalid() {
        #expect { try StaticResolver(literals: ["a": ["example.com"]]) } throws: {
            ($0 as? SocketError)?.code == .invalidAddress
        }
    }
}
