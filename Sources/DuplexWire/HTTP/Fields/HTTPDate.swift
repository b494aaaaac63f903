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
