// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexInspector

@Suite("The characters that a format of SQL makes")
struct FormatMeasureTests {
    private static let cases: [(String, [Int64], UInt64)] = [
        ("", [], 0), ("%", [], 0), ("%.", [], 0), ("100 %", [], 0), ("%%%n%d%s", [1, 2], 0),
        ("%c", [65], 1), ("%c%c", [65, 66], 2), ("%.0c", [65], 1), ("%5c", [65], 1),
        ("%.1000000000c", [65], 1_000_000_000), ("%.*c", [1_000_000_000, 65], 1_000_000_000),
        ("%.*c", [-7, 65], 7), ("%-+ #!0,9.7lc", [65], 7), ("%*.*c", [3, 4, 65], 4),
        ("%d%.*c", [1, 8, 65], 8), ("%%%.*c%s%.3c", [8, 65, 0, 66], 11), ("%.*c", [], 1),
        // As SQLite reads numbers that are too long.
        ("%.4294967297c", [65], 1), ("%.*c", [4_294_967_298, 65], 2), ("%.*c", [-2_147_483_648, 65], 2_147_483_648),
        ("%.100d%.100s%.100f", [1, 2, 3], 0),
    ]

    @Test("Each substitution takes its arguments, and only %c is counted", arguments: cases)
    func counts(format: String, arguments: [Int64], characters: UInt64) {
        let count = FormatMeasure.characters(of: Array(format.utf8)) { $0 < arguments.count ? arguments[$0] : 0 }
        #expect(count == characters)
    }
}
