// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("Hosts with an optional port")
struct AuthorityTests {
    @Test(
        "A host and a port are told apart",
        arguments: [
            ("example.com", "example.com", nil), ("EXAMPLE.com:80", "example.com", 80), ("a_b-c~d", "a_b-c~d", nil),
            ("127.0.0.1:65535", "127.0.0.1", 65_535), ("host:", "host", nil), ("h:0", "h", 0), ("x%20y", "x%20y", nil),
            ("[::1]", "[::1]", nil), ("[2001:DB8::1]:8080", "[2001:db8::1]", 8_080), ("[::]", "[::]", nil),
            ("[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7:8]", nil), ("[::ffff:1.2.3.4]", "[::ffff:1.2.3.4]", nil),
            ("[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7::]", nil),
        ] as [(String, String, Int?)]
    )
    func reading(text: String, host: String, port: Int?) throws {
        let authority = try #require(Authority(text))
        #expect(authority.host == host)
        #expect(authority.port == port)
        #expect(authority.zone == nil)
        #expect(authority.text == (port.map { "\(host):\($0)" } ?? host))
    }

    @Test(
        "What isn't host[:port] is refused",
        arguments: [
            "", ":80", "a b", "a:b", "a:80:80", "a:-1", "a:65536", "a:+80", "user@host", "a/b", "a?b", "a#b", "a\\b",
            "a,b",
            "a%2", "a%zz", "é", "a\u{0}", "[::1", "::1", "[]", "[:::]", "[1::2::3]", "[12345::]", "[g::]", "[::1]x",
            "[::1]80", "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:8:9]", "[1:2:3:4:5:6:7:8::]", "[::1.2.3]", "[::1.2.3.256]",
            "[::01.2.3.4]", "[1.2.3.4::]", "[v1.x]", "[fe80::1%]", "[fe80::1%a b]", "[::1:]", "[:1::]",
        ]
    )
    func refusing(text: String) {
        #expect(Authority(text) == nil)
    }

    @Test("A zone is kept apart from the address", arguments: ["[fe80::1%25eth0]:80", "[FE80::1%eth0]:80"])
    func zone(text: String) throws {
        let authority = try #require(Authority(text))
        #expect(authority.zone == "eth0")
        #expect(authority.text == "[fe80::1]:80")
        #expect(authority.address == "fe80::1")
    }
}
