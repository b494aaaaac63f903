// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Where something is in a tree: names with slashes between them; empty for the top.
///
/// Compared byte by byte, as file systems do.
struct ResourcePath: Sendable, Hashable, CustomStringConvertible {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    /// The top of the tree.
    static let top = ResourcePath("")

    var description: String { text }

    /// What it is in; nil for the top.
    var parent: ResourcePath? {
        if text.isEmpty { return nil }
        guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")) else { return .top }
        return ResourcePath(String(text[..<slash]))
    }

    /// What it is in, and what that is in, up to the top.
    var ancestors: [ResourcePath] {
        Array(sequence(first: self, next: \.parent).dropFirst())
    }

    /// Whether it lies in the other one, at any depth.
    func isBelow(_ other: ResourcePath) -> Bool {
        if other.text.isEmpty { return !text.isEmpty }
        let rest = text.utf8.dropFirst(other.text.utf8.count)
        return rest.first == UInt8(ascii: "/") && text.utf8.starts(with: other.text.utf8)
    }

    static func == (first: ResourcePath, second: ResourcePath) -> Bool {
        first.text.utf8.elementsEqual(second.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        // The same bytes are the same text.
        hasher.combine(text)
    }
}
