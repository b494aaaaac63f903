// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// The hosts that a server answers for.
///
/// A page of anybody's can have its name lead to 127.0.0.1 (DNS rebinding), and would then be of the same origin as a
/// server that is meant for this machine. So a server that only this machine reaches answers for this machine's names,
/// and for those of `allowedHosts` (RFC 9110 section 7.4, 421).
package struct AllowedHosts: Sendable {
    private let patterns: [HostPattern]
    let isRestricted: Bool

    /// Makes a value.
    ///
    /// - Parameters:
    ///   - names: the hosts that the app names, without ports; `nil` for the default.
    ///   - isLocal: whether the server can only be reached from this machine, by TCP.
    package init(_ names: [String]?, isLocal: Bool) {
        patterns = (names ?? []).compactMap { HostPattern($0) }
        isRestricted = names.map { !$0.contains("*") } ?? isLocal
    }

    /// Whether a request for that host is answered.
    ///
    /// - Parameter host: as of `RequestHead.host`, in lower case, perhaps with a port; empty where an HTTP/1.0 client
    ///   names none, as no browser does.
    /// - Returns: whether it is.
    package func contain(_ host: String) -> Bool {
        guard isRestricted, !host.isEmpty else { return true }
        let name = Self.name(of: host)
        return Self.isLocal(name) || patterns.contains { $0.matches(name) }
    }

    /// The host without its port, and without the dot of the root: a name with it is the same name (RFC 1034 section
    /// 3.1).
    static func name(of host: String) -> Substring {
        if host.hasPrefix("[") { return host.prefix { $0 != "]" } + "]" }
        let name = host.prefix { $0 != ":" }
        return name.hasSuffix(".") ? name.dropLast() : name
    }

    /// RFC 6761 section 6.3; RFC 1122 section 3.2.1.3.
    private static func isLocal(_ name: Substring) -> Bool {
        if name == "localhost" || name.hasSuffix(".localhost") || name == "[::1]" { return true }
        let numbers = name.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy(isByte)
    }

    private static func isByte(_ number: Substring) -> Bool {
        number.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt8(number) != nil
    }
}

/// A host that routes are for: a name, or `*.` and what a name ends with.
struct HostPattern: Hashable, Sendable {
    /// In lower case; with the dot in front where it is only the end of a name.
    private let text: String
    private let isEnd: Bool

    /// Makes a pattern.
    ///
    /// - Parameter text: as the app has written it; nil for one that no request can be for.
    init?(_ text: String) {
        var text = text.lowercased()
        // The dot of the root, which requests are read without.
        if text.hasSuffix(".") && !text.hasSuffix("*.") { text.removeLast() }
        isEnd = text.hasPrefix("*.")
        self.text = isEnd ? String(text.dropFirst()) : text
        let name = isEnd ? self.text.dropFirst() : self.text[...]
        let isLiteral = name.hasPrefix("[") && name.hasSuffix("]")
        guard !name.isEmpty, !name.contains("*"), !name.contains("/"), isLiteral || !name.contains(":") else {
            return nil
        }
    }

    /// Whether a request is for such a host.
    ///
    /// - Parameter name: in lower case, without a port.
    /// - Returns: whether it is.
    func matches(_ name: Substring) -> Bool {
        isEnd ? name.hasSuffix(text) && name.count > text.count : name == text
    }

    /// Whether this one is asked before the other: a name is, and the longer of two ends.
    func isBefore(_ other: HostPattern) -> Bool {
        isEnd == other.isEnd ? text.count > other.text.count : !isEnd
    }
}
