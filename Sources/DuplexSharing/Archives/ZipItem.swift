// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// Something that is to be in a zip.
struct ZipItem: Sendable {
    enum Content: Sendable {
        case folder
        /// A file of that size, by what is known before; opened when it is its turn.
        case file(size: UInt64, open: @Sendable () async throws -> OpenedFile)
        /// Something that can't be had, which the list of errors names: why not, such as `can't be read`.
        case missing(String)
    }

    /// Where it is in the zip: names with slashes between them.
    var path: String
    var content: Content
    var modified: UnixTime
    /// The last nine bits of its mode; nil for those of the file when it is opened.
    var permissions: UInt16?
    /// Told of it in the zip, such as that it had another name.
    var remark: String?

    /// Whether it is in the zip as it is on the disk, as far as that is known before.
    var isWhole: Bool {
        if case .missing = content { return false }
        return remark == nil
    }

    init(_ path: String, _ content: Content, modified: UnixTime, permissions: UInt16? = nil) {
        self.path = path
        self.content = content
        self.modified = modified
        self.permissions = permissions
    }

    func entry(_ packing: ZipPacking, size: UInt64, permissions known: UInt16? = nil) -> ZipEntry {
        if case .folder = content {
            return ZipEntry(path, .folder, modified: modified, permissions: permissions ?? 0o755)
        }
        let kind = ZipEntry.Kind.file(atMost: size, packing)
        return ZipEntry(path, kind, modified: modified, permissions: permissions ?? known ?? 0o644)
    }
}
