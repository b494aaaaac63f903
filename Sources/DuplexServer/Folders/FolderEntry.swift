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
    /// Changes whenever its content does.
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
        tag = status.tag(now: .now)
    }
}

extension FileStatus {
    /// A tag of a file that is another one whenever its content is.
    ///
    /// Strong, unless it was changed so lately that it may be changed again before the file system's clock goes on (RFC 9110
    /// section 8.8.1).
    package func tag(now: UnixTime) -> EntityTag? {
        let changed = UInt64(bitPattern: changed.seconds &* 1_000_000_000 &+ changed.nanoseconds)
        let text = [number, size, changed].map { String($0, radix: 36) }.joined(separator: "-")
        return EntityTag(text, isWeak: now.seconds - self.changed.seconds < 2)
    }
}
