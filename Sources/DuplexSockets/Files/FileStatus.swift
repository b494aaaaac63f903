// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

/// What the system says of a file, folder or link.
package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable {
        case file
        case folder
        /// A symbolic link.
        case link
        /// A pipe, a device, a socket.
        case other
    }

    /// A moment as file systems count it.
    package struct Moment: Sendable, Hashable {
        /// Since the beginning of 1970.
        package let seconds: Int64
        package let nanoseconds: Int64
    }

    package let kind: Kind
    package let size: UInt64
    /// Its number on its file system.
    package let number: UInt64
    /// The number of its file system.
    package let device: UInt64
    /// Who may do what with it, as chmod(2) has it.
    package let permissions: UInt16
    /// When its content was changed, as far as that is known: whoever may write it may say so, too.
    package let modified: Moment
    /// When anything of it was changed, its content among it; nobody can set it.
    package let changed: Moment

    init(_ status: stat) {
        #if canImport(Glibc)
        let (modified, changed) = (status.st_mtim, status.st_ctim)
        #else
        let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #endif
        kind = Self.kind(of: status.st_mode)
        size = UInt64(max(0, status.st_size))
        number = UInt64(status.st_ino)
        device = UInt64(truncatingIfNeeded: status.st_dev)
        permissions = UInt16(truncatingIfNeeded: status.st_mode & 0o777)
        self.modified = Moment(seconds: Int64(modified.tv_sec), nanoseconds: Int64(modified.tv_nsec))
        self.changed = Moment(seconds: Int64(changed.tv_sec), nanoseconds: Int64(changed.tv_nsec))
    }

    private static func kind(of mode: mode_t) -> Kind {
        switch mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .folder
        case S_IFLNK: .link
        default: .other
        }
    }

    /// Whether it is the same one, under whatever name.
    package func isSame(as other: FileStatus) -> Bool { number == other.number && device == other.device }
}
