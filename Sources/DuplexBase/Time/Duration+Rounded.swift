// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension Duration {
    /// The duration for people: `10.0 seconds`, `250 ms` or `40 µs`.
    package var rounded: String {
        let seconds = self / .seconds(1)
        // From where on rounding would give a thousand of the smaller unit.
        // Beyond that there is nothing to round, and tenths don't fit 64 bits.
        if abs(seconds) >= 1e15 { return "\(components.seconds) seconds" }
        if abs(seconds) >= 0.9995 {
            let tenths = Int((abs(seconds) * 10).rounded())
            return "\(seconds < 0 ? "-" : "")\(tenths / 10).\(tenths % 10) seconds"
        }
        let milliseconds = seconds * 1_000
        if abs(milliseconds) >= 0.9995 { return "\(Int(milliseconds.rounded())) ms" }
        return "\(Int((milliseconds * 1_000).rounded())) µs"
    }
}
