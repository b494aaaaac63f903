// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

/// What a name server that others wrote answers.
@Suite("DNSResolver and dnsmasq")
struct DNSResolverDnsmasqTests {
    /// More addresses than fit into 512 octets.
    private static let many = (1...100).map { "10.1.0.\($0)" }

    private static let names =
        [
            "--local=/example/", "--host-record=host.example,192.0.2.1,2001:db8::1,77",
            "--host-record=four.example,192.0.2.4", "--host-record=six.example,2001:db8::6",
            "--cname=alias.example,host.example", "--cname=second.example,alias.example",
            "--cname=dangling.example,nowhere.example", "--txt-record=text.example,hello",
            "--address=/wild.example/192.0.2.9", "--edns-packet-max=512",
        ] + many.map { "--host-record=many.example,\($0)" }

    /// Runs the server and a resolver that asks it.
    private func withResolver(
        usesTCP: Bool = false,
        overIPv6: Bool = false,
        searchDomains: [String] = [],
        _ body: (DNSResolver) async throws -> Void
    ) async throws {
        try await Dnsmasq.withRunning(Self.names) { server in
            var configuration = ResolverConfiguration(servers: [server.address])
            configuration.timeout = .seconds(60)
            configuration.otherKindDelay = .seconds(60)
            configuration.usesTCP = usesTCP
            configuration.searchDomains = searchDomains
            if overIPv6 { configuration.servers = [try SocketAddress("::1", port: server.address.port)] }
            try await body(DNSResolver(configuration))
            #expect(await Descriptors.areGone(connectedTo: server.address))
        }
    }

    @Test("A host has both kinds of address, and its time to live")
    func host() async throws {
        try await withResolver { resolver in
            let resolution = try await resolver.resolve("host.example")
            #expect(resolution.hosts == ["2001:db8::1", "192.0.2.1"])
            #expect(resolution.timeToLive == .seconds(77))
            #expect(resolver.statistics.datagrams == 2)
            #expect(resolver.statistics.ignored == 0)
        }
    }

    @Test("A host may have one kind of address alone, and a server may deny the name for the other kind")
    func oneKind() async throws {
        try await withResolver { resolver in
            for (host, address) in [
                ("four.example", "192.0.2.4"), ("six.example", "2001:db8::6"), ("a.wild.example", "192.0.2.9"),
                ("FOUR.Example.", "192.0.2.4"),
            ] {
                let hosts = try await resolver.resolve(host).hosts
                #expect(hosts == [address], "\(host)")
            }
        }
    }

    @Test("Aliases lead to the addresses", arguments: ["alias.example", "second.example"])
    func alias(host: String) async throws {
        try await withResolver { resolver in
            let hosts = try await resolver.resolve(host).hosts
            #expect(hosts == ["2001:db8::1", "192.0.2.1"])
        }
    }

    @Test("More addresses than fit into a datagram are fetched over TCP, all of them")
    func many() async throws {
        try await withResolver { resolver in
            let hosts = try await resolver.resolve("many.example").hosts
            #expect(hosts.count == 100)
            #expect(Set(hosts) == Set(Self.many))
            #expect(resolver.statistics.truncated == 1)
            #expect(resolver.statistics.streams == 1)
        }
    }

    @Test("Over TCP alone it is the same")
    func streams() async throws {
        try await withResolver(usesTCP: true) { resolver in
            let hosts = try await resolver.resolve("host.example").hosts
            #expect(hosts == ["2001:db8::1", "192.0.2.1"])
            #expect(resolver.statistics.streams == 2)
            #expect(resolver.statistics.datagrams == 0)
        }
    }

    @Test("A server may be asked over IPv6")
    func overIPv6() async throws {
        try await withResolver(overIPv6: true) { resolver in
            for host in ["host.example", "many.example"] {
                let hosts = try await resolver.resolve(host).hosts
                #expect(!hosts.isEmpty)
            }
        }
    }

    @Test("Hosts that don't exist, or have no address, are unknown", arguments: ["no.example", "text.example"])
    func unknown(host: String) async throws {
        try await withResolver { resolver in
            let error = await socketError { _ = try await resolver.resolve(host) }
            #expect(error?.code == .unknownHost)
            #expect(error?.message.contains("“\(host)”") == true)
        }
    }

    @Test("A server that refuses could not tell, and the next one is asked")
    func refused() async throws {
        try await withResolver { resolver in
            let error = await socketError { _ = try await resolver.resolve("other.test") }
            #expect(error?.code == .nameServiceFailed)
            #expect(error?.causes.count == 4)
            #expect(error?.causes.allSatisfy { $0.message.contains("REFUSED") } == true)
        }
    }

    @Test("Search domains find what is meant")
    func search() async throws {
        try await withResolver(searchDomains: ["no.example", "example"]) { resolver in
            let hosts = try await resolver.resolve("four").hosts
            #expect(hosts == ["192.0.2.4"])
            let error = await socketError { _ = try await resolver.resolve("four.") }
            #expect(error?.code == .nameServiceFailed)
        }
    }

    @Test("A cache before it asks once for as long as an answer may be kept")
    func cached() async throws {
        try await withResolver { resolver in
            let cache = CachingResolver(resolver)
            for _ in 0..<5 {
                let hosts = try await cache.resolve("host.example").hosts
                #expect(hosts == ["2001:db8::1", "192.0.2.1"])
                let error = await socketError { _ = try await cache.resolve("no.example") }
                #expect(error?.code == .unknownHost)
            }
            #expect(resolver.statistics.datagrams == 4)
        }
    }
}
