// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite("What isn't in a zip as it should be")
struct ZipRunTests {
    @Test("It is told in lines, by names that are safe, and bounded")
    func faults() {
        var faults = ZipFaults()
        #expect(faults.text == nil)
        faults.add("../a\nb", "is missing")
        #expect(faults.text == "This archive isn't whole.\n\n__/a_b: is missing\n")
        faults.add(renamed: String(repeating: "x/", count: 2_000) + "y", "had another name")
        #expect(faults.text?.hasSuffix("\n…" + String(repeating: "/x", count: 499) + "/y: had another name\n") == true)
        faults = ZipFaults()
        faults.add(renamed: "a", "had another name")
        #expect(faults.text == "Some names in this archive aren't as they were.\n\na: had another name\n")
        faults.add("b", "is missing")
        for number in 0..<1_100 { faults.add("\(number)", "is missing") }
        #expect(faults.text?.hasSuffix("\nand 102 more\n") == true)
    }
}
