// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
