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
