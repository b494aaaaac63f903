// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer

@Suite("What isn't in a zip as it should be")
struct ZipRunTests {
    @Test("It is told in lines, by names that are safe, and bounded")
    func faults() {
        var faults = ZipFaults()
        #expect(faults.text == nil)
        faults.add("../a\nb", "is missing")
        #expect(faults.text == "This archive isn't whole.\n\n__/a_b: is missing\n")
        for number in 0..<1_100 { faults.add("\(number)", "is missing") }
        #expect(faults.text?.hasSuffix("\nand 101 more\n") == true)
    }
}
