// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("Refusals of WebDAV")
struct WebDAVRefusalTests {
    private static func text(_ refusal: WebDAVRefusal) -> String {
        String(decoding: refusal.response.body.bytes ?? [], as: UTF8.self)
    }

    @Test("A condition is named in an error of DAV:")
    func condition() {
        let refusal = WebDAVRefusal.condition(.locked, .dav("lock-token-submitted"))
        #expect(refusal.response.status == .locked)
        #expect(Self.text(refusal).hasSuffix("<D:error xmlns:D=\"DAV:\"><D:lock-token-submitted/></D:error>\n"))
    }

    @Test("As many URLs are told as fit in a number of bytes, and the first in any case")
    func told() {
        let hrefs = [String](repeating: String(repeating: "x", count: 1_024), count: 1_000)
        #expect(WebDAVRefusal.told(hrefs).count == 16)
        #expect(WebDAVRefusal.told([String(repeating: "x", count: 20_000), "y"]).count == 1)
        #expect(WebDAVRefusal.told([]) == [] && WebDAVRefusal.told(["a", "b"]) == ["a", "b"])
    }

    @Test("What is elsewhere is in a list")
    func elsewhere() {
        let refusal = WebDAVRefusal.elsewhere([("/a", .locked, nil), ("/b", .failedDependency, nil)])
        #expect(
            refusal.response.status == .multi
                && refusal.response.fields[.contentType] == "application/xml; charset=utf-8"
        )
        #expect(Self.text(refusal).contains("/b</D:href><D:status>HTTP/1.1 424 Failed Dependency"))
    }
}
