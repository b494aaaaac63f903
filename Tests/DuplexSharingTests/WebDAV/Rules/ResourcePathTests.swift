// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("Paths of resources")
struct ResourcePathTests {
    @Test("What a path is in, up to the top")
    func ancestors() {
        #expect(ResourcePath("a/b/c").ancestors.map(\.text) == ["a/b", "a", ""])
        #expect(ResourcePath("a").parent == .top && ResourcePath.top.parent == nil && ResourcePath.top.ancestors == [])
    }

    @Test(
        "What lies below what",
        arguments: [
            ("a/b", "a", true), ("a/b/c", "a", true), ("a", "a", false), ("ab", "a", false), ("a", "a/b", false),
            ("a", "", true), ("", "", false), ("", "a", false), ("a/\u{308}", "a", true),
        ]
    )
    func below(path: String, other: String, isBelow: Bool) {
        #expect(ResourcePath(path).isBelow(ResourcePath(other)) == isBelow)
    }

    @Test("Names that look the same may be others")
    func compares() {
        #expect(ResourcePath("\u{E4}") != ResourcePath("a\u{308}"))
        #expect(Set([ResourcePath("\u{E4}"), ResourcePath("a\u{308}"), ResourcePath("\u{E4}")]).count == 2)
    }
}
