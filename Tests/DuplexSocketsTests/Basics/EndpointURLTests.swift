// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct EndpointURLTests {
    @Test(
        "A URL names what it says",
        arguments: [
            ("tcp://example.com:7000", Endpoint.host("example.com", port: 7_000)),
            ("TCP://example.com:1", .host("example.com", port: 1)),
            ("tls://example.com:65535", .tls("example.com", port: 65_535)),
            ("tcp://192.0.2.1:80", .host("192.0.2.1", port: 80)),
            ("tcp://[::1]:80", .host("::1", port: 80)),
            ("tls://[2001:db8::1]:443", .tls("2001:db8::1", port: 443)),
            ("tcp://[fe80::1%25eth0]:7", .host("fe80::1%eth0", port: 7)),
            ("tcp://[fe80::1%25a%2Db]:7", .host("fe80::1%a-b", port: 7)),
            ("tcp://ex%61mple.com:7", .host("example.com", port: 7)),
            ("tcp://b%C3%BCcher.example:7", .host("bücher.example", port: 7)),
            ("unix:/run/app", .unix("/run/app")),
            ("unix:///run/app", .unix("/run/app")),
            ("unix:run/app", .unix("run/app")),
            ("Unix:/run/a%20b%3Fc%23%25", .unix("/run/a b?c#%")),
            ("unix:/a@b:c[d]", .unix("/a@b:c[d]")),
            ("unix:@abstract", .unix("@abstract")),
        ]
    )
    func reading(url: String, endpoint: Endpoint) throws {
        #expect(try Endpoint(url) == endpoint)
    }

    @Test(
        "A URL that can't be meant is refused, and the error says what is wrong with it",
        arguments: [
            ("", "no scheme"), ("example.com", "no scheme"), ("localhost:80", "“localhost” is not a scheme"),
            ("://a:1", "no scheme"), ("http://example.com:80", "“http” is not a scheme"),
            ("tcp:example.com:80", "followed by //"), ("tcp:/example.com:80", "followed by //"),
            ("tcp://", "no host"), ("tcp://:80", "no host"),
            ("tcp://example.com", "no port"), ("tcp://example.com:", "no port"), ("tcp://[::1]", "no port"),
            ("tcp://[::1]:", "no port"),
            ("tcp://a:0", "“0” is not a port"), ("tcp://a:65536", "“65536” is not a port"),
            ("tcp://a:+1", "“+1” is not a port"), ("tcp://a:-1", "“-1” is not a port"), ("tcp://a:1x", "is not a port"),
            ("tcp://a:99999999999999999999", "is not a port"), ("tcp://a:١", "is not a port"),
            ("tcp://a:1/", "“/” can't follow"), ("tcp://a:1/path", "“/path” can't follow"),
            ("tcp://a:1?q", "“?q” can't follow"), ("tcp://a:1#f", "“#f” can't follow"),
            ("tcp://::1:80", "in brackets"), ("tcp://[::1", "closing bracket"), ("tcp://[::1]80", "“80” can't follow"),
            ("tcp://[192.0.2.1]:80", "not an IPv6 address"), ("tcp://[::g]:80", "not an IPv6 address"),
            ("tcp://[]:80", "not an IPv6 address"),
            ("tcp://[fe80::1%eth0]:7", "%25 and its name"), ("tcp://[fe80::1%25]:7", "%25 and its name"),
            ("tcp://[fe80::1%25%]:7", "hexadecimal"), ("tcp://a%2:7", "hexadecimal"), ("tcp://a%zz:7", "hexadecimal"),
            ("tcp://a%FF:7", "UTF-8"), ("tcp://a%00b:7", "no host name has"), ("tcp://a%2Fb:7", "no host name has"),
            ("tcp://a b:7", "no host name has"), ("tcp://a%40b:7", "no host name has"),
            ("unix:", "can't be the path"), ("unix:///%00", "can't be the path"), ("unix://host/path", "has no host"),
            ("unix://@name", "has no host"), ("unix:/a?b", "%3F"), ("unix:/a#b", "%23"), ("unix:/a%", "hexadecimal"),
            ("unix:/" + String(repeating: "x", count: 120), "1 to 107 bytes"),
        ]
    )
    func refusing(url: String, reason: String) {
        #expect {
            try Endpoint(url)
        } throws: {
            let error = $0 as? SocketError
            return error?.code == .invalidAddress && error?.message.contains(reason) == true
        }
    }

    @Test(
        "A password is refused and not repeated",
        arguments: [
            "tcp://me:secret@example.com:80", "tcp://secret@example.com:80", "tcp://me:secret@[::1", "me:secret@a:1",
            "tcp://me:secret@a:1/path", "tls://me:secret@:x", "me+secret%:a:1",
        ]
    )
    func passwords(url: String) {
        #expect {
            try Endpoint(url)
        } throws: {
            !"\($0)".contains("secret")
        }
    }
}
