// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A point in time by the calendar, such as the end of a certificate's validity, in whole seconds.
public struct UnixTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Seconds since the beginning of 1970 in UTC, leap seconds not counted.
    public var seconds: Int64

    /// Makes a value.
    public init(seconds: Int64) {
        self.seconds = seconds
    }

    /// The earlier one is the smaller one.
    public static func < (one: UnixTime, other: UnixTime) -> Bool { one.seconds < other.seconds }

    /// Date and time in UTC, such as `2026-11-21 17:30:00 UTC`.
    public var description: String {
        let (days, second) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let (day, rest) = second < 0 ? (days - 1, second + 86_400) : (days, second)
        let date = Self.date(day)
        let time = [rest / 3_600, rest / 60 % 60, rest % 60].map { Self.padded($0, 2) }.joined(separator: ":")
        return "\(Self.padded(date.year, 4))-\(Self.padded(date.month, 2))-\(Self.padded(date.day, 2)) \(time) UTC"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    /// The date of a day counted from 1970, in the Gregorian calendar, which repeats itself every 400 years.
    ///
    /// Years are counted from March, so that the leap day is the last of its year.
    private static func date(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let fromMarch = day + 719_468
        let era = (fromMarch >= 0 ? fromMarch : fromMarch - 146_096) / 146_097
        let dayOfEra = fromMarch - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfMonth)
    }

    /// A day counted from 1970, of a date in the Gregorian calendar; the inverse of ``date(_:)``.
    static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
