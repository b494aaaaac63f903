// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Testing

@testable import DuplexSockets

/// libidn2 itself.
@Suite(.enabled(if: Integration.isOn || HostNameLibrary.shared != nil, "libidn2 isn't installed"))
struct HostNameLibraryTests {
    @Test(
        "Names are converted as browsers do it",
        arguments: [
            ("bücher.example", "xn--bcher-kva.example"), ("Faß.DE", "xn--fa-hia.de"),
            ("ｂu\u{308}cher", "xn--bcher-kva"),
            ("日本語。jp", "xn--wgv71a119e.jp"), ("plain.example", "plain.example"),
        ]
    )
    func converting(host: String, ascii: String) throws {
        #expect(try #require(HostNameLibrary.shared).ascii(host) == ascii)
    }

    @Test(
        "Names that aren't any are refused with the reason",
        arguments: ["a\u{2028}b", String(repeating: "ü", count: 64)]
    )
    func refusing(host: String) throws {
        let library = try #require(HostNameLibrary.shared)
        let refusal = #expect(throws: HostNameLibrary.Refusal.self) { try library.ascii(host) }
        #expect(refusal?.reason.isEmpty == false)
    }
}
