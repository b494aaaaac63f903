// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

/// How long a server asks to be left alone: the field Retry-After, in seconds or as a date (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// Reads the field.
    ///
    /// A date is compared with the server's own field Date, so that a clock that is wrong on either side does no harm.
    ///
    /// - Parameters:
    ///   - headers: the fields of the answer.
    ///   - calendar: seconds since the beginning of 1970 in UTC, for answers with a date and without a field Date.
    /// - Returns: the time to wait, zero for a date that has passed; `nil` without the field, and for what isn't one.
    package static func delay(_ headers: HTTPFields, calendar: Int64) -> Duration? {
        guard let text = headers[.retryAfter] else { return nil }
        let trimmed = text.drop { $0 == " " }
        let digits = trimmed.utf8.prefix { Grammar.isDigit($0) }
        if !digits.isEmpty, trimmed.utf8.dropFirst(digits.count).allSatisfy({ $0 == 0x20 }) {
            // More than nine digits are more than thirty years.
            return digits.count > 9 ? .seconds(999_999_999) : .seconds(Int64(String(trimmed.prefix(digits.count))) ?? 0)
        }
        guard let then = CookieDate.seconds(text) else { return nil }
        let here = headers[.date].flatMap(CookieDate.seconds) ?? calendar
        return .seconds(max(0, then - here))
    }

    /// The value of the field that asks for such a time.
    ///
    /// - Parameter wait: the time; a part of a second counts as a whole one, and there is always one at least.
    /// - Returns: the seconds.
    package static func value(_ wait: Duration) -> String {
        let (seconds, rest) = wait.components
        return "\(max(1, rest > 0 ? seconds + 1 : seconds))"
    }
}
