// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("The field Timeout")
struct WebDAVTimeoutTests {
    @Test(
        "The first wish that can be read holds",
        arguments: [
            ("Second-600", Int64(600)), ("second-1", 1), ("Infinite, Second-4100000000", nil),
            ("Second-10, Second-20", 10), ("Extend, Second-20", 20), ("Second-, Second--1, Second-5", 5),
            ("Second-99999999999999999999", .max), ("", nil), ("x", nil),
        ]
    )
    func reads(value: String, seconds: Int64?) {
        #expect(WebDAVTimeout([.timeout: value]).seconds == seconds)
    }

    @Test("It is granted up to a bound, and for a second at least")
    func grants() {
        #expect(WebDAVTimeout([:]).granted(upTo: 60) == 60)
        #expect(WebDAVTimeout([.timeout: "Second-10"]).granted(upTo: 60) == 10)
        #expect(WebDAVTimeout([.timeout: "Second-100"]).granted(upTo: 60) == 60)
        #expect(WebDAVTimeout([.timeout: "Second-0"]).granted(upTo: 60) == 1)
    }
}
