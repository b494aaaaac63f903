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

    /// The time that much later, in whole seconds; one too far away for 64 bits becomes the last there is.
    package func advanced(by duration: Duration) -> UnixTime {
        let (sum, overflow) = seconds.addingReportingOverflow(duration.components.seconds)
        return UnixTime(seconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// Date and time in UTC, such as `2026-11-21 17:30:00 UTC`.
    public var description: String {
        let (days, second) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let (day, rest) = second < 0 ? (days - 1, second + 86_400) : (days, second)
        let date = CivilDate(daysSince1970: day)
        let clock = [rest / 3_600, rest / 60 % 60, rest % 60].map { Self.padded($0, 2) }.joined(separator: ":")
        return "\(Self.padded(date.year, 4))-\(Self.padded(date.month, 2))-\(Self.padded(date.day, 2)) \(clock) UTC"
    }

    /// Date and time in UTC as RFC 3339 has it, such as `2026-11-21T17:30:00Z`.
    package var internetText: String {
        let parts = description.split(separator: " ")
        return "\(parts[0])T\(parts[1])Z"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}

/// A day in the Gregorian calendar, which repeats itself every 400 years, that is 146,097 days.
///
/// Years are counted from March here, so that the leap day is the last of its year.
package struct CivilDate: Sendable, Hashable {
    package var year: Int64
    /// From 1.
    package var month: Int64
    /// From 1.
    package var day: Int64

    /// Makes a value; nothing is checked.
    package init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The date of a day that is counted from the beginning of 1970; days before it are negative.
    package init(daysSince1970 days: Int64) {
        let fromMarch = days + 719_468
        let era = (fromMarch >= 0 ? fromMarch : fromMarch - 146_096) / 146_097
        let dayOfEra = fromMarch - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The day, counted from the beginning of 1970.
    package var daysSince1970: Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The days of the month, of any year of the calendar.
    package static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
