// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Synchronization

/// Text of clients in lines of logs.
enum LogText {
    /// The text in visible ASCII, so that nobody begins a line, ends a quotation or steers a terminal.
    ///
    /// Quotes and backslashes get a backslash in front, and all other bytes are written `\xhh`, as Apache does it.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - isWord: whether spaces are written so, too.
    /// - Returns: the text as it may stand in a line.
    static func escaped(_ text: String, isWord: Bool = false) -> String {
        var bytes: [UInt8] = []
        append(text.utf8.span.raw, to: &bytes)
        if isWord {
            let words = bytes.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            bytes = Array(words.joined(separator: #"\x20"#.utf8))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends text in UTF-8 as ``escaped(_:isWord:)`` writes it, with spaces.
    static func append(_ text: RawSpan, to line: inout [UInt8]) {
        var start = 0
        while true {
            let end = text.endOfPlainText(from: start)
            line.append(text.extracting(start..<end))
            if end == text.byteCount { return }
            append(special: text.withOctets { $0[end] }, to: &line)
            start = end + 1
        }
    }

    private static func append(special byte: UInt8, to line: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            line.append(UInt8(ascii: "\\"))
            line.append(byte)
        default: line.append(utf8: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16))
        }
    }
}

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
