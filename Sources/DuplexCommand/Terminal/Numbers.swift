// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

extension Duration {
    /// The milliseconds with three digits behind the point, such as `0.041`.
    var inMilliseconds: String {
        (Double(wholeNanoseconds) / 1e6).fixed(3)
    }
}

extension Double {
    /// The number with so many digits behind the point, and commas between the thousands: `1,234.50`.
    ///
    /// For numbers from zero up; `-` for what isn't one.
    func fixed(_ digits: Int) -> String {
        let scale = (0..<digits).reduce(1) { product, _ in product * 10 }
        guard self >= 0, let scaled = Int(exactly: (self * Double(scale)).rounded()) else { return "-" }
        let whole = (scaled / scale).grouped
        if digits == 0 { return whole }
        let fraction = String(scaled % scale)
        return whole + "." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}

extension Int {
    /// The digits with commas between the thousands: `1,234,567`.
    var grouped: String {
        let digits = Array(String(magnitude))
        var text = self < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0 && (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }
}
