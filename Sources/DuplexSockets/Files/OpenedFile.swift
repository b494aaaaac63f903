// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexSystem

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file or folder that is open, and what the system says of it.
///
/// Whatever happens to its name, this stays the same file.
package final class OpenedFile: Sendable {
    package let status: FileStatus
    package var kind: FileStatus.Kind { status.kind }
    package var size: UInt64 { status.size }
    /// Its number on its file system.
    package var number: UInt64 { status.number }
    /// When its content was changed, as far as that is known: whoever may write it may say so, too.
    package var modified: FileStatus.Moment { status.modified }
    /// When anything of it was changed, its content among it; nobody can set it.
    package var changed: FileStatus.Moment { status.changed }
    private let file: FileRange.OpenFile
    var descriptor: Int32 { file.descriptor }

    /// Takes a descriptor; `nil` where the system can't say what it is.
    init?(owned descriptor: Int32) {
        file = FileRange.OpenFile(owning: descriptor)
        guard let status = Self.status(of: descriptor) else { return nil }
        self.status = status
    }

    /// Whether the system says the same of it now: nobody has changed its content meanwhile, as far as its times show.
    package var isUnchanged: Bool {
        guard let now = Self.status(of: descriptor) else { return false }
        return now.size == size && now.modified == modified && now.changed == changed
    }

    private static func status(of descriptor: Int32) -> FileStatus? {
        var status = stat()
        let result = SystemCall.fileStatus.make(on: descriptor) { unsafe fstat(descriptor, &status) }
        return result == 0 ? FileStatus(status) : nil
    }

    /// Keeps others from locking it, in whatever process, for as long as this is there, or a part of it.
    ///
    /// - Returns: whether it was free.
    func lock() -> Bool { file.lock() }

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

    /// A part of it, which stays open for as long as the part is there; not looked at whether the file still has it.
    ///
    /// - Parameter range: where it lies.
    /// - Returns: the part.
    package func part(_ range: Range<UInt64>) -> FilePart {
        FilePart(file: file, offset: range.lowerBound, count: UInt64(range.count))
    }

    // MARK: Extended attributes

    /// The value of an attribute; `nil` where there is none.
    ///
    /// - Parameter name: such as `user.origin`.
    /// - Returns: the value.
    /// - Throws: ``SocketError`` with the error number: ENOTSUP where the file system has no attributes.
    package func attribute(_ name: String) throws(SocketError) -> [UInt8]? {
        var value = [UInt8](repeating: 0, count: FileAttribute.bound)
        let count = SystemCall.readFile.make(on: descriptor) {
            unsafe cduplex_get_attribute(descriptor, name, &value, FileAttribute.bound)
        }
        if count >= 0 { return Array(value[..<count]) }
        if errno == ENODATA { return nil }
        throw SocketError.system("The attribute “\(name)” can't be read.", errno: errno)
    }

    /// Sets an attribute, or takes it away.
    ///
    /// - Parameters:
    ///   - name: such as `user.origin`.
    ///   - value: `nil` to take it away.
    /// - Throws: ``SocketError`` with the error number: ENOTSUP where the file system has no attributes, ENOSPC or E2BIG where
    ///   the value doesn't fit.
    package func setAttribute(_ name: String, _ value: [UInt8]?) throws(SocketError) {
        let result = SystemCall.writeFile.make(on: descriptor) {
            guard let value else { return unsafe cduplex_remove_attribute(descriptor, name) }
            return unsafe cduplex_set_attribute(descriptor, name, value, value.count)
        }
        if result == 0 || value == nil && errno == ENODATA { return }
        throw SocketError.system("The attribute “\(name)” can't be set.", errno: errno)
    }
}

/// An extended attribute (xattr(7)) of a file that isn't opened.
package struct FileAttribute: Sendable, Hashable {
    /// Such as `user.origin`.
    package var name: String
    /// How many bytes the value has.
    package var size: Int
    /// The first of them.
    package var bytes: [UInt8]

    /// How many attributes are read at most.
    package static let countLimit = 100
    /// How much of each value is read at most.
    package static let sizeLimit = 4_096
    /// The bytes that all names and each value may have: the system's own bound; file systems have lower ones.
    fileprivate static let bound = 64 * 1_024

    package init(name: String, size: Int, bytes: [UInt8]) {
        self.name = name
        self.size = size
        self.bytes = bytes
    }

    /// The attributes of what is at a path, and no link; by name.
    ///
    /// - Parameter path: the path.
    /// - Returns: the first hundred; none where there are none, or the file system has none, or they can't be read.
    package static func all(at path: String) -> [FileAttribute] {
        var names = [UInt8](repeating: 0, count: bound)
        let count = unsafe names.withUnsafeMutableBytes { names in
            unsafe names.withMemoryRebound(to: CChar.self) { names in
                unsafe cduplex_list_attributes_at(path, names.baseAddress, names.count)
            }
        }
        guard count > 0 else { return [] }
        return names[..<count].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.sorted().prefix(
            countLimit
        )
        .compactMap { value(of: $0, at: path) }
    }

    /// The attribute of that name; `nil` where it can't be read.
    private static func value(of name: String, at path: String) -> FileAttribute? {
        var value = [UInt8](repeating: 0, count: bound)
        let count = unsafe cduplex_get_attribute_at(path, name, &value, bound)
        guard count >= 0 else { return nil }
        return FileAttribute(name: name, size: count, bytes: Array(value[..<min(count, sizeLimit)]))
    }
}

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
