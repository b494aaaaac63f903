// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// The parts of a URL that was recorded, which may be anything: what isn't there is empty.
struct RecordedURL: Sendable, Equatable {
    /// In lower case, such as `wss`.
    var scheme = ""
    /// The host and its port, such as `example.com:8080` or `[::1]`, without a name and a password.
    var authority = ""
    /// Path and query, as requests have them.
    var target: String

    /// Whether it goes over TLS.
    var isSecure: Bool { scheme == "https" || scheme == "wss" }

    /// The port that is named, or that of the scheme.
    var port: Int {
        let name = authority.last { $0 == ":" || $0 == "]" } == ":" ? authority.split(separator: ":").last : nil
        return name.flatMap { Int($0) }.flatMap { (1...65_535).contains($0) ? $0 : nil } ?? (isSecure ? 443 : 80)
    }

    /// Takes a URL, or a target alone, apart.
    init(_ url: String) {
        var rest = url.prefix { $0 != "#" }
        if let range = rest.firstRange(of: "://") {
            scheme = rest[..<range.lowerBound].lowercased()
            rest = rest[range.upperBound...]
            let name = rest.prefix { $0 != "/" && $0 != "?" }
            authority = Self.visible(name[(name.lastIndex(of: "@").map(name.index(after:)) ?? name.startIndex)...])
            rest = rest[name.endIndex...]
        }
        let path = Self.visible(rest)
        target = path.hasPrefix("/") || path == "*" ? path : "/" + path
    }

    /// What a line of a request can't have, written in percent.
    private static func visible(_ text: Substring) -> String {
        text.utf8.map { byte in
            (0x21..<0x7F).contains(byte) ? String(UnicodeScalar(byte)) : "%" + Base16.encode([byte]).uppercased()
        }.joined()
    }
}
