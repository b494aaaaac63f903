// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A response as it came, with its whole body.
package struct RawResponse: Sendable {
    /// The status line and the fields, with the empty line.
    package let head: String
    package var body: [UInt8] = []

    /// The first line.
    package var statusLine: String { lines[0] }

    package var status: Int { Int(statusLine.dropFirst(9).prefix(3)) ?? 0 }

    package var text: String { String(decoding: body, as: UTF8.self) }

    /// The value of a field, whatever its letters' case; `nil` when it isn't there exactly once.
    package subscript(name: String) -> String? {
        let prefix = name.lowercased() + ":"
        let found = lines.dropFirst().filter { $0.lowercased().hasPrefix(prefix) }
        return found.count == 1 ? String(found[0].dropFirst(prefix.count)).trimmed : nil
    }

    private var lines: [String] { head.components(separatedBy: "\r\n") }

    /// How long the body is that follows the head.
    func bodyLength(answering method: String) -> Int {
        if method == "HEAD" || status < 200 || status == 204 || status == 304 { return 0 }
        return self["Content-Length"].flatMap(Int.init) ?? 0
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    fileprivate func components(separatedBy separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
