// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexTopics

@Suite("Objects that say the same")
struct AlikeObjectsTests {
    private final class Text: Sendable {
        let text: String
        init(_ text: String) { self.text = text }
    }

    @Test("One serves all, for as long as anybody has it; no more than some are looked through")
    func shares() {
        let objects = AlikeObjects()
        func find(_ text: String) -> Text { objects.find(Text(text)) { $0.text == $1.text } }
        var held = [find("a")]
        #expect(find("a") === held[0] && find("b") !== held[0])
        held += (0..<15).map { find("\($0)") }
        #expect(find("14") === held[15])
        let beyond = find("x")
        #expect(find("x") !== beyond)
        held.removeLast()
        let next = find("y")
        #expect(find("y") === next)
    }
}
