// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Dates as HTTP writes them (IMF-fixdate, RFC 9110 section 5.6.7).
enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The date now, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func now() -> String {
        string(secondsSince1970: Int(time(nil)))
    }

    /// A date given in seconds since the beginning of 1970 in UTC.
    static func string(secondsSince1970 seconds: Int) -> String {
        let day = Int((Double(seconds) / 86_400).rounded(.down))
        let second = seconds - day * 86_400
        let date = CivilDate(daysSince1970: Int64(day))
        let weekday = days[((day % 7) + 7) % 7]
        let clock = [second / 3_600, second / 60 % 60, second % 60].map(twoDigits).joined(separator: ":")
        return "\(weekday), \(twoDigits(Int(date.day))) \(months[Int(date.month) - 1]) \(date.year) \(clock) GMT"
    }

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
