// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

// That others can read it: QRCodeReaderTests.
@Suite struct QRCodeTests {
    @Test("A code is square, and has its three marks in the corners")
    func marks() throws {
        let code = try #require(QRCode("http://192.0.2.2:8080"))
        // The widths of the versions (ISO/IEC 18004): 21, 25, 29, …
        #expect(code.width >= 21 && (code.width - 21) % 4 == 0)
        #expect(code.modules.count == code.width * code.width)
        for (row, column) in [(0, 0), (0, code.width - 7), (code.width - 7, 0)] {
            let mark = (0..<7).map { line in
                let start = (row + line) * code.width + column
                return String(code.modules[start..<start + 7].map { $0 ? "#" : "." })
            }
            #expect(mark == ["#######", "#.....#", "#.###.#", "#.###.#", "#.###.#", "#.....#", "#######"])
        }
    }

    @Test("Its lines are as wide as it is with its margin, light around it, and name their colours")
    func lines() throws {
        let code = try #require(QRCode("a"))
        #expect(code.width == 21 && code.lines.count == 15)
        for line in code.lines {
            #expect(line.hasPrefix("\u{1b}[30;107m    ") && line.hasSuffix("    \u{1b}[0m"))
            #expect(line.count == "\u{1b}[30;107m\u{1b}[0m".count + 29)
        }
        for index in [0, 1, 13, 14] { #expect(!code.lines[index].contains { "█▀▄".contains($0) }, "\(index)") }
    }

    @Test("A text that is too long for any code has none")
    func long() {
        #expect(QRCode(String(repeating: "a", count: 2_331))?.width == 177)
        #expect(QRCode(String(repeating: "a", count: 2_332)) == nil)
        #expect(QRCode("") == nil)
    }
}
