// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// A file or a folder on its way into a zip.
struct ZipEntry: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case folder
        /// A file with at most so many bytes; nil where nobody can say.
        case file(atMost: UInt64?, ZipPacking)
    }

    /// Names with slashes between them; what isn't safe in it is replaced, see ``ZipName``.
    var path: String
    var kind: Kind
    var modified: UnixTime
    /// Who may read, write and execute it on Unix: the last nine bits of its mode.
    var permissions: UInt16

    init(_ path: String, _ kind: Kind, modified: UnixTime, permissions: UInt16) {
        self.path = path
        self.kind = kind
        self.modified = modified
        self.permissions = permissions & 0o777
    }
}

/// How the content of a file lies in a zip.
enum ZipPacking: UInt16, Sendable, Hashable {
    /// As it is.
    case stored = 0
    /// RFC 1951.
    case deflated = 8
}

/// What the content of a file came to be.
struct ZipContent: Sendable, Hashable {
    /// CRC-32 of the bytes as they were.
    var checksum: UInt32
    var size: UInt64
    /// How many bytes of the zip it takes.
    var packedSize: UInt64

    init(checksum: UInt32, size: UInt64, packedSize: UInt64) {
        self.checksum = checksum
        self.size = size
        self.packedSize = packedSize
    }
}
