// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("HTTP versions")
struct HTTPVersionTests {
    @Test("A version is HTTP, a slash, a digit, a dot and a digit", arguments: ["HTTP/1.1", "HTTP/1.0", "HTTP/2.0"])
    func reading(text: String) {
        #expect(HTTPVersion(Array(text.utf8).span)?.description == text)
    }

    @Test(
        "Anything else is none",
        arguments: [
            "", "HTTP/1", "http/1.1", "HTTP/1.1 ", "HTTP/11", "HTTP/1.x", "HTTP/x.1", "HTTPS/1.1", "HTTP 1.1",
            "HTTP/1,1",
        ]
    )
    func refusing(text: String) {
        #expect(HTTPVersion(Array(text.utf8).span) == nil)
    }

    @Test("Versions are ordered by their major number first")
    func order() {
        #expect(HTTPVersion.http10 < .http11)
        #expect(HTTPVersion(major: 1, minor: 9) < HTTPVersion(major: 2, minor: 0))
        #expect(!(HTTPVersion.http11 < .http11))
    }

    @Test("Numbers are brought into the one digit that there's room for")
    func clamping() {
        #expect(HTTPVersion(major: 12, minor: -3) == HTTPVersion(major: 9, minor: 0))
    }
}
