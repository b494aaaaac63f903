// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("A proxy on the command line")
struct ProxyArgumentTests {
    @Test(
        "Proxies are URLs, none, or those of the environment or the system",
        arguments: [
            "none", "environment", "system", "http://proxy.test:3128", "https://user:secret@proxy.test",
            "socks5h://[::1]:1080",
            "socks4a://proxy.test",
        ]
    )
    func valid(text: String) {
        #expect(ProxyArgument(argument: text)?.defaultValueDescription == text)
    }

    @Test(
        "What isn't a URL of a proxy is refused",
        arguments: ["", "ftp://proxy.test", "socks5h://", "http://proxy.test:0"]
    )
    func invalid(text: String) {
        #expect(ProxyArgument(argument: text) == nil)
    }
}
