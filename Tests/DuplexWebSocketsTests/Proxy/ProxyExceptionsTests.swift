// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import Testing

@Suite("What goes past the proxy")
struct ProxyExceptionsTests {
    @Test(
        "Members are about hosts as people expect",
        arguments: [
            ("example.com", "example.com", 80, true), ("example.com", "EXAMPLE.com.", 80, true),
            ("example.com", "www.example.com", 80, true), ("example.com", "badexample.com", 80, false),
            (".example.com", "example.com", 80, true), ("*.example.com", "a.b.example.com", 1, true),
            ("a, b c,,d", "c", 80, true), ("a, b c,,d", "d", 80, true), ("", "a", 80, false),
            ("*", "1.2.3.4", 80, true),
            ("a,*", "b", 80, true), ("example.com:8080", "example.com", 8_080, true),
            ("example.com:8080", "example.com", 80, false), ("10.0.0.0/8", "10.1.2.3", 80, true),
            ("10.0.0.0/8", "11.1.2.3", 80, false), ("10.0.0.0/8", "example.com", 80, false),
            ("1.2.3.4", "1.2.3.4", 80, true), ("1.2.3.4:81", "1.2.3.4", 80, false),
            ("1.2.3.4:81", "1.2.3.4", 81, true), ("2.3.4", "1.2.3.4", 80, false), ("::1", "::1", 80, true),
            ("[::1]", "::1", 80, true), ("[::1]:80", "::1", 80, true), ("[::1]:80", "::1", 81, false),
            ("2001:db8::/32", "2001:db8::5", 80, true), ("2001:db8::/32", "2001:db9::5", 80, false),
            ("example.com:99999", "example.com", 80, false), ("http://example.com", "example.com", 80, false),
            ("localhost", "localhost", 80, true), (".", "a", 80, false),
        ]
    )
    func members(list: String, host: String, port: Int, isDirect: Bool) {
        #expect(ProxyExceptions(list).contains(host, port: port) == isDirect)
    }
}
