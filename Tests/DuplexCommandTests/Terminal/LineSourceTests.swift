// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("Given lines")
struct LineSourceTests {
    @Test("Lines come in their order, and then no more", arguments: [[], ["one"], ["one", "", "three"]])
    func order(lines: [String]) async {
        let source = GivenLines(lines)
        var got: [String] = []
        while let line = await source.next() { got.append(line) }
        #expect(got == lines)
        #expect(await source.next() == nil)
    }
}
