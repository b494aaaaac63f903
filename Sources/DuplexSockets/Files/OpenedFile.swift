// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

/// A file or folder that is open, and what the system says of it.
///
/// Whatever becomes of its name, this stays the same file.
package final class OpenedFile: Sendable {
    package enum Kind: Sendable {
        case file
        case folder
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
    /// When its content was changed, as far as that is known: whoever may write it may say so, too.
    package let modified: Moment
    /// When anything of it was changed, its content among it; nobody can set it.
    package let changed: Moment
    private let file: FileRange.OpenFile
    private var descriptor: Int32 { file.descriptor }

    /// Takes a descriptor; `nil` where the system can't say what it is.
    init?(owned descriptor: Int32) {
        file = FileRange.OpenFile(owning: descriptor)
        var status = stat()
        let result = SystemCall.fileStatus.make(on: descriptor) { unsafe fstat(descriptor, &status) }
        #if canImport(Glibc)
        let (modified, changed) = (status.st_mtim, status.st_ctim)
        #else
        let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #endif
        kind = Self.kind(of: status.st_mode)
        size = UInt64(max(0, status.st_size))
        number = UInt64(status.st_ino)
        self.modified = Moment(seconds: Int64(modified.tv_sec), nanoseconds: Int64(modified.tv_nsec))
        self.changed = Moment(seconds: Int64(changed.tv_sec), nanoseconds: Int64(changed.tv_nsec))
        if result != 0 { return nil }
    }

    private static func kind(of mode: mode_t) -> Kind {
        switch mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .folder
        default: .other
        }
    }

    /// A part of it, which stays open for as long as the part is there.
    ///
    /// - Parameters:
    ///   - offset: where the part begins.
    ///   - count: its length.
    /// - Returns: the part.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unreadableFile`` where it is shorter by now, or no regular file.
    package func range(from offset: UInt64, count: UInt64) throws(SocketError) -> sending FileRange {
        try FileRange(of: file, offset: offset, count: count)
    }

    /// The names in a folder, in no order, without `.` and `..`; blocks for as long as the disk takes.
    ///
    /// - Parameter limit: how many are read at most.
    /// - Returns: the names that are UTF-8, and whether there are more than the limit.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unreadableFile``.
    package func names(atMost limit: Int) throws(SocketError) -> (names: [String], isCut: Bool) {
        // A descriptor of its own: closing the folder closes it, and its place in the folder is its own.
        let own = SystemCall.openFile.make(on: descriptor) {
            unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        guard own >= 0, let folder = unsafe fdopendir(own) else {
            if own >= 0 { SystemCalls.close(own) }
            throw SocketError(.unreadableFile, message: "The folder can't be read.", errno: errno)
        }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            // The name ends with a zero within the entry.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(validatingCString: $0) }
            }
            guard let name, name != ".", name != ".." else { continue }
            if names.count == limit { return (names, true) }
            names.append(name)
        }
        return (names, false)
    }
}
