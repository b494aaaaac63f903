// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer

@Suite struct HostPatternTests {
    @Test(
        "A name is that host alone, and a star any host that ends so",
        arguments: [
            ("example.com", "example.com", true), ("Example.COM", "example.com", true),
            ("example.com", "www.example.com", false), ("*.example.com", "www.example.com", true),
            ("*.example.com", "a.b.example.com", true), ("*.example.com", "example.com", false),
            ("*.example.com", ".example.com", false), ("*.example.com", "badexample.com", false),
            ("example.com.", "example.com", true), ("*.example.com.", "www.example.com", true),
            ("[::1]", "[::1]", true), ("10.0.0.1", "10.0.0.1", true),
        ]
    )
    func matching(pattern: String, host: String, isMatched: Bool) throws {
        #expect(try #require(HostPattern(pattern)).matches(host[...]) == isMatched)
    }

    @Test(
        "What no request can be for is none",
        arguments: ["", ".", "*", "*.", "*..", "a.*", "example.com:80", "a/b", "*.*.a", "[::1", "::1]"]
    )
    func refused(text: String) {
        #expect(HostPattern(text) == nil)
    }

    @Test("A name is asked before a star, and a longer star before a shorter one")
    func order() throws {
        let patterns = try ["*.a", "*.b.a", "c.b.a"].map { try #require(HostPattern($0)) }
        #expect(patterns.shuffled().sorted { $0.isBefore($1) } == patterns.reversed())
    }
}
