// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The dates of cookies, in the many forms that servers write them in (RFC 6265 section 5.1.1).
enum CookieDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    private struct Parts {
        var clock: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?
    }

    /// Seconds since the beginning of 1970 in UTC; nil for what isn't a date.
    static func seconds(_ text: String) -> Int64? {
        // No date is that long.
        guard text.utf8.count <= 128 else { return nil }
        var parts = Parts()
        for token in text.utf8.split(whereSeparator: isDelimiter) { take(Array(token), into: &parts) }
        guard let clock = parts.clock, let day = parts.day, let month = parts.month, var year = parts.year else {
            return nil
        }
        if (70...99).contains(year) { year += 1_900 }
        if (0...69).contains(year) { year += 2_000 }
        let date = CivilDate(year: Int64(year), month: Int64(month), day: Int64(day))
        guard (1...CivilDate.days(inMonth: date.month, of: date.year)).contains(date.day), year >= 1_601,
            clock.hour <= 23, clock.minute <= 59, clock.second <= 59
        else { return nil }
        return date.daysSince1970 * 86_400 + Int64(clock.hour * 3_600 + clock.minute * 60 + clock.second)
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// A token is the first of the four that it can be and that is still missing.
    private static func take(_ token: [UInt8], into parts: inout Parts) {
        if parts.clock == nil, let clock = clock(token) {
            parts.clock = clock
        } else if parts.day == nil, let day = number(token, digits: 1...2) {
            parts.day = day
        } else if parts.month == nil, let month = month(token) {
            parts.month = month
        } else if parts.year == nil, let year = number(token, digits: 2...4) {
            parts.year = year
        }
    }

    private static func month(_ token: [UInt8]) -> Int? {
        let name = Grammar.lowercased(String(decoding: token.prefix(3), as: UTF8.self))
        return months.firstIndex(of: name).map { $0 + 1 }
    }

    /// A number at the beginning of the token, with nothing or something else than a digit behind it.
    private static func number(_ token: some Sequence<UInt8>, digits: ClosedRange<Int>) -> Int? {
        let leading = Array(token.prefix { Grammar.isDigit($0) })
        return digits.contains(leading.count) ? Grammar.decimal(leading) : nil
    }

    private static func clock(_ token: [UInt8]) -> (hour: Int, minute: Int, second: Int)? {
        let fields = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, fields[..<2].allSatisfy({ $0.allSatisfy(Grammar.isDigit) }),
            let hour = number(fields[0], digits: 1...2), let minute = number(fields[1], digits: 1...2),
            let second = number(fields[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }
}
