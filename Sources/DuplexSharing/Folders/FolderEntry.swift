// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
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

    init?(_ name: String, _ status: FileStatus) {
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
