// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("The demo page's icon")
struct DemoPageIconTests {
    @Test("It is a drawing on its own, with attributes where style would need a policy")
    func plain() {
        #expect(DemoPage.icon.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\""))
        #expect(DemoPage.icon.hasSuffix("</svg>\n"))
        #expect(DemoPage.icon.firstMatch(of: /<style|\sstyle=|<script|\son[a-z]+=|href/) == nil)
    }

    @Test("Its colour is the page's accent")
    func colour() throws {
        let accent = try #require(DemoPage.style.firstMatch(of: /--accent: (#[0-9a-f]{6});/)?.1)
        #expect(DemoPage.icon.contains("fill=\"\(accent)\""))
    }
}
