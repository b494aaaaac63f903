// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Dates as HTTP writes them (RFC 9110 section 5.6.7).
public enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let longDays = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The date as it is sent (IMF-fixdate), such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    public static func string(_ moment: UnixTime) -> String {
        var (day, second) = moment.seconds.quotientAndRemainder(dividingBy: 86_400)
        if second < 0 { (day, second) = (day - 1, second + 86_400) }
        let date = CivilDate(daysSince1970: day)
        let weekday = days[Int(((day % 7) + 7) % 7)]
        let clock = [second / 3_600, second / 60 % 60, second % 60].map(twoDigits).joined(separator: ":")
        return "\(weekday), \(twoDigits(date.day)) \(months[Int(date.month) - 1]) \(date.year) \(clock) GMT"
    }

    /// Reads a date in one of the three forms that are in use: IMF-fixdate, and the obsolete ones of RFC 850 and asctime.
    ///
    /// A year of two digits that would lie more than 50 years ahead of `now` is of the century before.
    ///
    /// - Parameters:
    ///   - text: The value of the field.
    ///   - now: The time, for years of two digits.
    /// - Returns: The time; nil for what isn't such a date, in which case the field is to be ignored.
    public static func parse(_ text: String, now: UnixTime) -> UnixTime? {
        // No date is that long.
        guard text.utf8.count <= 40 else { return nil }
        let words = text.utf8.split(separator: Grammar.space).map { String(decoding: $0, as: UTF8.self) }
        switch words.count {
        case 6 where words[5] == "GMT" && isWeekday(words[0], of: days):
            return moment(words[1], words[2], year: fourDigits(words[3]), words[4])
        case 4 where words[3] == "GMT" && isWeekday(words[0], of: longDays):
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3 else { return nil }
            return moment(parts[0], parts[1], year: twoDigitYear(parts[2], now), words[2])
        case 5 where days.contains(words[0]):
            return moment(
                words[2].count == 1 ? "0" + words[2] : words[2],
                words[1],
                year: fourDigits(words[4]),
                words[3]
            )
        default: return nil
        }
    }

    private static func isWeekday(_ word: String, of names: [String]) -> Bool {
        word.hasSuffix(",") && names.contains(String(word.dropLast()))
    }

    private static func moment(_ day: String, _ month: String, year: Int64?, _ clock: String) -> UnixTime? {
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
        guard let year, let month = months.firstIndex(of: month), let day = digits(day, 2), parts.count == 3,
            let hour = digits(parts[0], 2), let minute = digits(parts[1], 2), let second = digits(parts[2], 2),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        let date = CivilDate(year: year, month: Int64(month) + 1, day: day)
        guard (1...CivilDate.days(inMonth: date.month, of: year)).contains(day) else { return nil }
        // A leap second is the first of the next minute.
        return UnixTime(seconds: date.daysSince1970 * 86_400 + hour * 3_600 + minute * 60 + second)
    }

    private static func fourDigits(_ text: String) -> Int64? { digits(text, 4) }

    private static func twoDigitYear(_ text: String, _ now: UnixTime) -> Int64? {
        guard let year = digits(text, 2) else { return nil }
        let current = CivilDate(daysSince1970: now.seconds / 86_400).year
        let full = current - current % 100 + year
        return full > current + 50 ? full - 100 : full
    }

    private static func digits(_ text: some StringProtocol, _ count: Int) -> Int64? {
        text.utf8.count == count ? Grammar.decimal(text.utf8).map(Int64.init) : nil
    }

    private static func twoDigits(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}

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
