// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Logging
import Testing

@testable import DuplexInspector

@Suite("Which lines of the console somebody wants")
struct ConsoleFilterTests {
    private static func logged(_ text: String) -> ConsoleEntry {
        var entry = ConsoleEntry(number: 1, time: 0, kind: .log, text: text)
        entry.log = ConsoleEntry.LogDetails(
            level: .notice,
            label: "Shop",
            source: "Cart",
            file: "",
            line: 1,
            function: ""
        )
        return entry
    }

    private static let written = ConsoleEntry(number: 2, time: 0, kind: .output, text: "Grüße")

    @Test(
        "By level, text and kind",
        arguments: [
            (nil, nil, nil, true, true), ("notice", nil, nil, true, true), ("warning", nil, nil, false, true),
            (nil, "ALPHA", nil, true, false), (nil, "shop", nil, true, false), (nil, "cart", nil, true, false),
            (nil, "GRÜSSE", nil, false, true), (nil, "GRÜß", nil, false, true), (nil, nil, "log", true, false),
            (nil, nil, "output,error", false, true), ("", "", "", true, true), ("critical", nil, "log", false, false),
        ] as [(String?, String?, String?, Bool, Bool)]
    )
    func wants(level: String?, text: String?, kinds: String?, log: Bool, stream: Bool) throws {
        let filter = try ConsoleFilter(level: level, text: text, kinds: kinds)
        #expect(filter.wants(Self.logged("alphabet")) == log)
        #expect(filter.wants(Self.written) == stream)
    }

    @Test("What there isn't is named")
    func wrong() {
        let level = #expect(throws: ConsoleFilter.Wrong.self) { try ConsoleFilter(level: "loud") }
        #expect(level?.detail == "There is no level “loud”.")
        let kind = #expect(throws: ConsoleFilter.Wrong.self) { try ConsoleFilter(kinds: "log,paper") }
        #expect(kind?.detail == "There is no kind of lines “paper”.")
    }
}
