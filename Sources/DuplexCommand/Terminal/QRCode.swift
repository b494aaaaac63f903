// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexQRCode

/// A text as a square that phones read (ISO/IEC 18004), made by libqrencode.
struct QRCode: Sendable {
    /// How many modules a side has.
    let width: Int
    /// Row by row: whether a module is dark.
    let modules: [Bool]

    /// Makes the code, which can be read with a seventh of it damaged.
    ///
    /// - Parameter text: such as a URL. `nil` for more than a code holds, 2,331 bytes.
    init?(_ text: String) {
        // Version 0: as small as the text allows. The code is libqrencode's until it is freed here.
        guard let code = unsafe QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { return nil }
        defer { unsafe QRcode_free(code) }
        width = Int(unsafe code.pointee.width)
        var modules: [Bool] = []
        // The lowest bit of each byte is the module (qrencode.h).
        for index in 0..<width * width { modules.append(unsafe code.pointee.data[index] & 1 == 1) }
        self.modules = modules
    }

    /// How many light modules are around it, as the standard asks for.
    private static let margin = 4

    /// The code as lines for a terminal, two rows of modules in each, black on white whatever the terminal's colours are.
    var lines: [String] {
        let side = width + 2 * Self.margin
        return stride(from: 0, to: side, by: 2).map { row in
            let cells = (0..<side).map { column in
                switch (isDark(row, column), isDark(row + 1, column)) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }
            return "\u{1b}[30;107m" + cells.joined() + "\u{1b}[0m"
        }
    }

    private func isDark(_ row: Int, _ column: Int) -> Bool {
        let (row, column) = (row - Self.margin, column - Self.margin)
        guard (0..<width).contains(row), (0..<width).contains(column) else { return false }
        return modules[row * width + column]
    }
}
