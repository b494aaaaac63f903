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
}
