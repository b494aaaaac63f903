// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Names of what a shared folder keeps for itself: no path leads there, in whichever way the folder is served.
package enum OwnName {
    /// What they begin with.
    package static let start = ".duplex"

    /// Whether it is, or may be to a file system, a name of what a shared folder keeps for itself.
    ///
    /// There are file systems to which letters of both cases are one, which pass over what isn't seen, and which have short
    /// names for long ones.
    package static func isOwn(_ name: String) -> Bool {
        guard let first = name.utf8.first,
            first == UInt8(ascii: ".") || first >= 0x80 || first | 0x20 == shortName.first
        else { return false }
        let seen = name.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }
        let text = String(String.UnicodeScalarView(seen)).lowercased().utf8
        if text.starts(with: start.utf8) { return true }
        return text.starts(with: shortName) && (0x30...0x39).contains(text.dropFirst(shortName.count).first ?? 0)
    }

    private static let shortName = Array("duplex~".utf8)
}
