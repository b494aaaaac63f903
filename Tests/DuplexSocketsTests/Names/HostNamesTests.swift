// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct HostNamesTests {
    @Test(
        "Names are compared in lower case and without the last dot",
        arguments: [("Example.COM", "example.com"), ("example.com.", "example.com"), (".", "."), ("", "")]
    )
    func normalizing(host: String, normalized: String) {
        #expect(HostNames.normalized(host) == normalized)
    }

    @Test("This machine has the loopback addresses, IPv6 first", arguments: ["localhost", "LocalHost.", "a.localhost"])
    func localhost(host: String) throws {
        #expect(try HostNames.localAnswer(host)?.get().hosts == ["::1", "127.0.0.1"])
    }

    @Test(
        "Names that must not be asked for don't exist",
        arguments: ["invalid", "a.invalid", "a.INVALID.", "x.onion", "127.1", "1.2.3.4.5", "4"]
    )
    func unknown(host: String) {
        guard case .failure(let error)? = HostNames.localAnswer(host) else {
            Issue.record("“\(host)” would be asked for.")
            return
        }
        #expect(error.code == .unknownHost)
        #expect(error.message.contains("“\(host)”"))
    }

    @Test(
        "Every other name is asked for",
        arguments: ["example.com", "localhost.example", "invalid.example", "a4", "4.a", "notlocalhost", "", "."]
    )
    func asked(host: String) {
        if let answer = HostNames.localAnswer(host) { Issue.record("“\(host)” was answered: \(answer)") }
    }
}
