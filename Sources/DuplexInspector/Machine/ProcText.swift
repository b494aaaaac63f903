// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

/// Texts of the kernel's below /proc (proc(5)), read as what they say; nothing where they don't say it.
enum ProcText {
    /// A file; `nil` where there is none, as on other systems than Linux.
    static func file(_ path: String) -> String? {
        (try? Data(contentsOf: URL(fileURLWithPath: "/proc/" + path))).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The value of a line such as `VmRSS:     1234 kB`, in bytes where it has that unit.
    static func number(_ name: String, in text: String) -> Int? {
        for line in text.split(separator: "\n") where line.hasPrefix(name + ":") {
            let words = line.dropFirst(name.count + 1).split(whereSeparator: \.isWhitespace)
            guard let value = words.first.flatMap({ Int($0) }) else { return nil }
            return words.dropFirst().first == "kB" ? value * 1_024 : value
        }
        return nil
    }

    /// The words of a line such as `btime 1700000000`.
    static func words(_ name: String, in text: String) -> [Substring] {
        let line = text.split(separator: "\n").first { $0.split(separator: " ").first == name[...] }
        return line.map { Array($0.split(separator: " ").dropFirst()) } ?? []
    }

    /// The numbers at the beginning of a text, as in `loadavg` and `uptime`.
    static func numbers(_ text: String) -> [Double] {
        text.split(whereSeparator: \.isWhitespace).prefix { Double($0) != nil }.compactMap { Double($0) }
    }

    /// A line of `stat` of a process or a thread.
    struct Stat: Equatable, Sendable {
        var id: Int
        var name: String
        /// Such as `S`, which sleeps.
        var state: String
        /// In ticks of the clock.
        var user: Int
        var system: Int
        /// When it began, in ticks behind the start of the machine.
        var start: Int
    }

    /// Reads such a line; its name may have blanks and parentheses.
    static func stat(_ text: String) -> Stat? {
        guard let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")"), open < close,
            let id = Int(text[..<open].trimmingCharacters(in: .whitespaces))
        else { return nil }
        let rest = text[text.index(after: close)...].split(whereSeparator: \.isWhitespace)
        guard rest.count > 19, let user = Int(rest[11]), let system = Int(rest[12]), let start = Int(rest[19]) else {
            return nil
        }
        let name = String(text[text.index(after: open)..<close])
        return Stat(id: id, name: name, state: String(rest[0]), user: user, system: system, start: start)
    }

    /// What interfaces have moved, by their names, out of `net/dev`: bytes in and out.
    static func traffic(_ text: String) -> [String: (received: Int, sent: Int)] {
        var traffic: [String: (received: Int, sent: Int)] = [:]
        for line in text.split(separator: "\n") {
            // An alias has a colon in its name.
            guard let colon = line.lastIndex(of: ":") else { continue }
            let numbers = line[line.index(after: colon)...].split(whereSeparator: \.isWhitespace).map { Int($0) }
            guard numbers.count >= 9, let received = numbers[0], let sent = numbers[8] else { continue }
            traffic[line[..<colon].trimmingCharacters(in: .whitespaces)] = (received, sent)
        }
        return traffic
    }

    /// The name of the distribution, out of `/etc/os-release`.
    static func systemName(_ text: String) -> String? {
        let line = text.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
        return line.map { $0.dropFirst(12).trimmingCharacters(in: ["\"", "'"]) }
    }
}
