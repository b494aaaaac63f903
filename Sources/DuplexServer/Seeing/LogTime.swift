// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Synchronization

/// A second as it stands in logs.
struct LogTime: Sendable, Hashable {
    /// In the local time zone, as Apache writes it, such as `21/Nov/2026:18:30:00 +0100`.
    let common: String
    /// In UTC (RFC 3339), such as `2026-11-21T17:30:00Z`.
    let standard: String

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// - Parameters:
    ///   - time: the second.
    ///   - offset: how many seconds the local time is ahead of UTC.
    init(_ time: UnixTime, offset: Int) {
        let local = Self.parts(time.seconds + Int64(offset))
        let zone = abs(offset) / 60
        let month = Self.months[Int(local.date.month - 1)]
        let day = "\(Self.padded(local.date.day))/\(month)/\(local.date.year)"
        common = "\(day):\(local.clock) \(offset < 0 ? "-" : "+")\(Self.padded(zone / 60))\(Self.padded(zone % 60))"
        let (date, clock) = Self.parts(time.seconds)
        standard = "\(date.year)-\(Self.padded(date.month))-\(Self.padded(date.day))T\(clock)Z"
    }

    private static func parts(_ seconds: Int64) -> (date: CivilDate, clock: String) {
        let day = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        let second = seconds - day * 86_400
        let clock = [second / 3_600, second / 60 % 60, second % 60].map { padded($0) }.joined(separator: ":")
        return (CivilDate(daysSince1970: day), clock)
    }

    private static func padded(_ number: some BinaryInteger) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// The time for logs, written once in a second.
final class LogClock: Sendable {
    private let read: @Sendable () -> UnixTime
    private let last = Mutex<(second: UnixTime, time: LogTime)?>(nil)

    init(_ read: @escaping @Sendable () -> UnixTime = { .now }) {
        self.read = read
    }

    func now() -> LogTime {
        let second = read()
        return last.withLock { last in
            if let last, last.second == second { return last.time }
            let time = LogTime(second, offset: second.localOffset)
            last = (second, time)
            return time
        }
    }
}
