// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSharing
import DuplexWire
import Testing

@Suite struct PageAssetTests {
    @Test("Assets are the same where all of them is")
    func equality() {
        let asset = PageAsset("a.js", .javaScript, "1")
        #expect(asset == PageAsset("a.js", .javaScript, "1") && asset != PageAsset("a.js", .javaScript, "2"))
    }
}
