// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// Where below a folder a request leads.
struct FilePath: Equatable {
    /// Names with slashes between them; empty for the folder itself.
    let text: String
    /// The last name; empty for the folder itself.
    let name: String
    /// Whether the path ends with a slash.
    let isFolder: Bool

    /// Reads the path of a request.
    ///
    /// It is `nil` for what leads to no file: names that are empty, `.`, `..`, hidden, that hold a slash or a zero, and that
    /// aren't text. A browser has resolved dots before it asks.
    ///
    /// - Parameters:
    ///   - path: as it was sent, beginning with a slash.
    ///   - depth: how many of its segments lead to the folder.
    ///   - showsHidden: whether names may begin with a dot.
    init?(_ path: String, behind depth: Int, showsHidden: Bool) {
        guard var segments = PercentDecoding.segments(ofPath: path), segments.count >= depth else { return nil }
        segments.removeFirst(depth)
        isFolder = segments.last?.isEmpty == true
        if isFolder { segments.removeLast() }
        for (index, name) in segments.enumerated() {
            let mayBeHidden = showsHidden || (index == 0 && name == Self.wellKnown)
            guard Self.isName(name), mayBeHidden || !Self.isHidden(name) else { return nil }
        }
        text = segments.joined(separator: "/")
        name = segments.last ?? ""
    }

    /// What everybody is to find, whatever else is hidden (RFC 8615).
    private static let wellKnown = ".well-known"

    static func isHidden(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: ".") }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(UInt8(ascii: "/"))
            && !OwnName.isOwn(name)
    }

    /// The path of something in the folder at this path.
    func path(of name: String) -> String { text.isEmpty ? name : "\(text)/\(name)" }
}
