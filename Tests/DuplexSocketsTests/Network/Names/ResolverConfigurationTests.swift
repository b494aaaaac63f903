// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct ResolverConfigurationTests {
    private func servers(_ text: String) -> [String] {
        ResolverConfiguration(parsing: text).servers.map(\.description)
    }

    @Test(
        "Without a server it is the one on this machine",
        arguments: ["", "\n\n", "# nameserver 192.0.2.1", "search a"]
    )
    func none(text: String) {
        #expect(servers(text) == ["127.0.0.1:53"])
        #expect(ResolverConfiguration().servers.map(\.description) == ["127.0.0.1:53"])
    }

    @Test("A port that isn't given is 53")
    func ports() throws {
        let servers = try [SocketAddress("192.0.2.1", port: 0), SocketAddress("::1", port: 5_353)]
        #expect(ResolverConfiguration(servers: servers).servers.map(\.description) == ["192.0.2.1:53", "[::1]:5353"])
    }

    @Test("Servers of both families, with zones, and no more than three")
    func servers() {
        #expect(servers("nameserver 192.0.2.1\nnameserver\t2001:db8::1  \r\n") == ["192.0.2.1:53", "[2001:db8::1]:53"])
        #expect(servers("nameserver fe80::1%7") == ["[fe80::1%7]:53"])
        #expect(servers("nameserver fe80::1%lo").first?.hasPrefix("[fe80::1%") == true)
        let four = (1...4).map { "nameserver 192.0.2.\($0)" }.joined(separator: "\n")
        #expect(servers(four) == ["192.0.2.1:53", "192.0.2.2:53", "192.0.2.3:53"])
    }

    @Test(
        "What isn't right is passed over",
        arguments: [
            "nameserver example.org", "nameserver", "nameserver 192.0.2", "nameserver fe80::1%nosuchinterface",
            " nameserver 192.0.2.9", "; nameserver 192.0.2.9", "nameservers 192.0.2.9", "NAMESERVER 192.0.2.9", "\0",
        ]
    )
    func wrong(line: String) {
        #expect(servers(line + "\nnameserver 192.0.2.1") == ["192.0.2.1:53"])
    }

    @Test("Of search and domain the last line counts")
    func search() {
        #expect(ResolverConfiguration(parsing: "search a.b  c\tD").searchDomains == ["a.b", "c", "D"])
        #expect(ResolverConfiguration(parsing: "search a\ndomain b c").searchDomains == ["b"])
        #expect(ResolverConfiguration(parsing: "domain b\nsearch c d").searchDomains == ["c", "d"])
        let many = "search " + (0..<100).map { "d\($0)" }.joined(separator: " ")
        #expect(ResolverConfiguration(parsing: many).searchDomains.count == 16)
    }

    @Test("Options add up, within the bounds of the system's resolver")
    func options() {
        let some = ResolverConfiguration(parsing: "options ndots:2 rotate timeout:3\noptions attempts:4 edns0 use-vc")
        #expect(some.ndots == 2)
        #expect(some.timeout == .seconds(3))
        #expect(some.attempts == 4)
        #expect(some.usesTCP)
        let large = ResolverConfiguration(parsing: "options ndots:99 timeout:99 attempts:99")
        #expect(large.ndots == 15)
        #expect(large.timeout == .seconds(30))
        #expect(large.attempts == 5)
        let wrong = "options ndots:-1 timeout:0 attempts:0 ndots timeout: attempts:x use-vc:1 ndots:9999999999999999999"
        #expect(ResolverConfiguration(parsing: wrong) == ResolverConfiguration())
        #expect(ResolverConfiguration(parsing: "options ndots:0").ndots == 0)
    }

    // MARK: Search domains

    private func candidates(_ host: String, _ domains: [String], ndots: Int = 1) throws -> [String] {
        var configuration = ResolverConfiguration()
        configuration.searchDomains = domains
        configuration.ndots = ndots
        return try configuration.candidates(host).map(\.description)
    }

    @Test("A name with few dots is tried in the search domains first, one with more as it is first")
    func candidates() throws {
        #expect(try candidates("a", []) == ["a"])
        #expect(try candidates("a", ["x", "y.z"]) == ["a.x", "a.y.z", "a"])
        #expect(try candidates("a.b", ["x"]) == ["a.b", "a.b.x"])
        #expect(try candidates("a.b", ["x"], ndots: 2) == ["a.b.x", "a.b"])
        #expect(try candidates("a", ["x"], ndots: 0) == ["a", "a.x"])
        #expect(try candidates("a.", ["x"]) == ["a"])
        #expect(try candidates("a", ["x", "X.", ".x", ".", "", "not valid"]) == ["a.x", "a"])
    }

    @Test("What can't be a name isn't tried, and what a domain makes too long is left out")
    func impossible() throws {
        #expect(throws: SocketError.self) { try candidates("a..b", ["x"]) }
        let long = String(repeating: "a.", count: 125) + "a"
        #expect(try candidates(long, ["x", "xx.yy"], ndots: 200).count == 2)
    }

    @Test("The order says which kinds are asked for")
    func order() {
        #expect(ResolverConfiguration().order == .ipv6First)
        #expect(ResolverConfiguration.AddressOrder.ipv6First.types == [.ipv6, .ipv4])
        #expect(ResolverConfiguration.AddressOrder.ipv4First.types == [.ipv4, .ipv6])
        #expect(ResolverConfiguration.AddressOrder.ipv6Only.types == [.ipv6])
        #expect(ResolverConfiguration.AddressOrder.ipv4Only.types == [.ipv4])
    }
}
