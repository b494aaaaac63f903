// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSharing
import Testing

@Suite struct PagePartsTests {
    @Test("No part makes markup out of text")
    func markup() {
        for part in [PageParts.domScript, PageParts.themeStyle] {
            for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "http://", "eval("] {
                #expect(!part.replacing("http://www.w3.org", with: "").contains(word))
            }
        }
    }
}
