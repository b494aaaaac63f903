// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("Bounds of XML")
struct XMLLimitsTests {
    @Test("A document at every bound of the defaults is read")
    func defaults() throws {
        let limits = XMLLimits()
        let leaves = String(repeating: "<a/>", count: limits.elements - limits.depth)
        let opening = String(repeating: "<a>", count: limits.depth - 1)
        let closing = String(repeating: "</a>", count: limits.depth - 1)
        let root = try XMLReader.element(of: Array((opening + leaves + "<a/>" + closing).utf8))
        #expect(root.elements.count == 1)
        #expect(throws: XMLError.self) {
            try XMLReader.element(of: Array((opening + leaves + "<a/><a/>" + closing).utf8))
        }
    }
}
