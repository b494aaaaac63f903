// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
public import DuplexWire

/// A file or folder in a ``SharedFolder``, as it was when it was looked at.
public struct FolderEntry: Sendable, Hashable {
    /// What it is.
    public enum Kind: String, Sendable {
        /// A file.
        case file
        /// A folder.
        case folder
    }

    /// Its name.
    public let name: String
    /// What it is.
    public let kind: Kind
    /// How many bytes a file has; 0 for a folder.
    public let size: UInt64
    /// When its content was changed.
    public let modified: UnixTime
    /// Changes whenever its content does, and stays the same text otherwise.
    ///
    /// Hazard: a file that is written in place again within one tick of the file system's clock, a few milliseconds, and
    /// is as long as before, has the same tag. Files that are put here are new ones, and have tags of their own.
    public let tag: EntityTag?

    package init?(_ name: String, _ status: FileStatus) {
        switch status.kind {
        case .file: kind = .file
        case .folder: kind = .folder
        case .link, .other: return nil
        }
        self.name = name
        size = kind == .file ? status.size : 0
        modified = UnixTime(seconds: status.modified.seconds)
        tag = status.tag
    }
}

extension FileStatus {
    /// A strong tag of a file, which is another one whenever its content is, as far as the file system's clock tells.
    ///
    /// It is strong from the beginning: clients that synchronize compare the texts of tags, and would take a weak one
    /// that becomes strong for a change. See ``isSettled(now:)`` for the parts of files.
    package var tag: EntityTag? {
        let changed = UInt64(bitPattern: changed.seconds &* 1_000_000_000 &+ changed.nanoseconds)
        return EntityTag([number, size, changed].map { String($0, radix: 36) }.joined(separator: "-"))
    }

    /// Whether a further change shows: the last one is so long ago that the file system's clock has gone on since (RFC 9110
    /// section 8.8.1).
    package func isSettled(now: UnixTime) -> Bool { now.seconds - changed.seconds >= 2 }
}
