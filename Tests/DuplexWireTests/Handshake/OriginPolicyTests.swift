// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Which pages may connect")
struct OriginPolicyTests {
    @Test(
        "A page from the same host and port may",
        arguments: [
            ("http://example.com", "example.com"), ("https://example.com", "example.com"),
            ("http://EXAMPLE.com", "example.COM"),
            ("http://example.com:80", "example.com"), ("https://example.com", "example.com:443"),
            ("http://a:81", "a:81"),
            ("http://[::1]:8080", "[::1]:8080"), ("https://[::1]", "[::1]:443"),
        ]
    )
    func sameHost(origin: String, host: String) {
        #expect(OriginPolicy.sameHost.allows(origin: origin, host: host))
    }

    @Test(
        "A page from elsewhere may not",
        arguments: [
            ("http://evil.com", "example.com"), ("http://example.com.evil.com", "example.com"), ("http://a:81", "a"),
            ("http://a", "a:81"), ("http://a", "a:443"), ("null", "a"), ("", "a"), ("a", "a"), ("http://a/", "a"),
            ("http://evil@a", "a"), ("http://sub.a", "a"), ("file://a", "a"), ("chrome-extension://a", "a"),
            ("http://a", ""),
            ("http://", ""), ("http://a http://a", "a"), ("ftp://a", "a"), ("null", "null"),
        ]
    )
    func otherHost(origin: String, host: String) {
        #expect(!OriginPolicy.sameHost.allows(origin: origin, host: host))
        #expect(OriginPolicy.any.allows(origin: origin, host: host))
    }

    @Test("What isn't a browser sends no origin, and may", arguments: [OriginPolicy.sameHost, .any, .allowed([])])
    func noOrigin(policy: OriginPolicy) {
        #expect(policy.allows(origin: nil, host: "a"))
    }

    @Test(
        "A page from one of the allowed origins may, and no other",
        arguments: [
            ("https://a.com", true), ("https://a.com:443", true), ("HTTPS://A.com", true), ("http://a.com", false),
            ("https://a.com:444", false), ("https://b.com:8443", true), ("https://b.com", false), ("null", true),
            ("https://x.a.com", false), ("https://a.com.x", false), ("", false), ("chrome-extension://abc", true),
        ]
    )
    func allowed(origin: String, isAllowed: Bool) {
        let policy = OriginPolicy.allowed(["https://a.com", "https://b.com:8443", "null", "chrome-extension://abc"])
        #expect(policy.allows(origin: origin, host: "x.a.com") == isAllowed)
    }
}
