// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
import DuplexWire

/// Something that is to be in a zip.
package struct ZipItem: Sendable {
    package enum Content: Sendable {
        case folder
        /// A file of that size, by what is known before; opened when it is its turn.
        case file(size: UInt64, open: @Sendable () async throws -> OpenedFile)
    }

    /// Where it is in the zip: names with slashes between them.
    package var path: String
    package var content: Content
    package var modified: UnixTime
    /// The last nine bits of its mode.
    package var permissions: UInt16

    package init(_ path: String, _ content: Content, modified: UnixTime, permissions: UInt16? = nil) {
        self.path = path
        self.content = content
        self.modified = modified
        let usual: UInt16 = if case .folder = content { 0o755 } else { 0o644 }
        self.permissions = permissions ?? usual
    }

    func entry(_ packing: ZipPacking, size: UInt64) -> ZipEntry {
        let kind: ZipEntry.Kind = if case .folder = content { .folder } else { .file(atMost: size, packing) }
        return ZipEntry(path, kind, modified: modified, permissions: permissions)
    }
}
