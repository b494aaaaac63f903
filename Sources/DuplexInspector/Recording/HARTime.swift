// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// Times as HAR has them (ISO 8601).
enum HARTime {
    /// Seconds since 1970 in UTC, to the microsecond.
    static func text(_ seconds: Double) -> String {
        let bounded = min(max(seconds.isFinite ? seconds : 0, 0), 253_402_300_799)
        let micros = Int64((bounded * 1_000_000).rounded())
        let fraction = String(micros % 1_000_000)
        let padding = String(repeating: "0", count: 6 - fraction.utf8.count)
        return UnixTime(seconds: micros / 1_000_000).internetText.dropLast() + ".\(padding)\(fraction)Z"
    }

    /// The time of a text.
    ///
    /// - Parameter text: such as `2026-11-23T17:30:00.123+01:00`; a zone that isn't named is UTC.
    /// - Returns: seconds since 1970; `nil` for what isn't a time.
    static func seconds(_ text: String) -> Double? {
        var rest = Substring(text)
        guard let year = number(&rest, 4), skip(&rest, "-"), let month = number(&rest, 2), skip(&rest, "-"),
            let day = number(&rest, 2), skip(&rest, "T") || skip(&rest, " "), let hour = number(&rest, 2),
            skip(&rest, ":"), let minute = number(&rest, 2), (1...12).contains(month), (0...24).contains(hour),
            (0...59).contains(minute), day >= 1, day <= CivilDate.days(inMonth: month, of: year)
        else { return nil }
        var second = 0.0
        if skip(&rest, ":") {
            let digits = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." || $0 == "," }
            guard let value = Double(digits.replacing(",", with: ".")), value < 61 else { return nil }
            second = value
            rest = rest[digits.endIndex...]
        }
        guard let zone = zone(&rest), rest.isEmpty else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        return Double(days * 86_400 + hour * 3_600 + minute * 60 - zone) + second
    }

    /// Seconds east of UTC.
    private static func zone(_ rest: inout Substring) -> Int64? {
        if rest.isEmpty || skip(&rest, "Z") || skip(&rest, "z") { return 0 }
        let sign: Int64 = skip(&rest, "-") ? -1 : 1
        if sign > 0, !skip(&rest, "+") { return nil }
        guard let hours = number(&rest, 2) else { return nil }
        _ = skip(&rest, ":")
        let minutes = rest.isEmpty ? 0 : number(&rest, 2)
        return minutes.map { sign * (hours * 3_600 + $0 * 60) }
    }

    private static func skip(_ rest: inout Substring, _ character: Character) -> Bool {
        guard rest.first == character else { return false }
        rest.removeFirst()
        return true
    }

    private static func number(_ rest: inout Substring, _ count: Int) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        rest = rest.dropFirst(count)
        return Int64(digits)
    }
}
