// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Characters in names of files.
enum NameScalar {
    /// Whether it is no part of a name that people can read: a control character, the end of a line or of a paragraph, or a mark
    /// of direction, by which a name would look like another one.
    static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1F, 0x7F...0x9F, 0x2028, 0x2029: true
        case 0x200E, 0x200F, 0x061C, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
