// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How the lines of an access log are written.
public struct AccessLogFormat: Sendable, Hashable {
    private enum Kind {
        case combined
        case json
    }

    private let kind: Kind

    /// The combined format of Apache and NCSA, which most tools read.
    ///
    /// What clients have sent is visible ASCII in it: other bytes are written `\xhh`, quotes and backslashes with a
    /// backslash in front.
    public static let combined = AccessLogFormat(kind: .combined)

    /// An object of JSON in each line.
    ///
    /// Its members are `time`, `address`, `user`, `method`, `host`, `target`, `protocol`, `route`, `status`,
    /// `received_bytes`, `sent_bytes`, `duration_us`, `cut`, `request_id`, `referer` and `user_agent`; those that aren't known
    /// are left out.
    public static let json = AccessLogFormat(kind: .json)

    /// A line with its end.
    func line(_ entry: AccessEntry, at time: LogTime) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(256)
        switch kind {
        case .combined: entry.appendCombined(at: time, to: &line)
        case .json: line.append(utf8: entry.json(at: time))
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// Says that lines are missing.
    func note(ofDropped count: Int) -> String {
        switch kind {
        case .combined: "# \(count) lines were dropped here."
        case .json: "{\"dropped\":\(count)}"
        }
    }
}
