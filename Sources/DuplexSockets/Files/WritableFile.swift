// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexSystem

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file that is open for reading and writing, one call at a time.
///
/// All calls block for as long as the disk takes, and throw ``SocketError`` with the error number. Each call moves the place
/// that the descriptor keeps: whoever writes has it alone.
package final class WritableFile: Sendable {
    private let file: OpenedFile
    var descriptor: Int32 { file.descriptor }

    init(_ file: OpenedFile) {
        self.file = file
    }

    /// Keeps others from locking it, in whatever process, for as long as this is there.
    ///
    /// - Returns: whether it was free.
    package func lock() -> Bool { file.lock() }

    private static func fault(_ what: String, _ code: Int32) -> SocketError {
        // What writes nothing, and says no reason, has no room.
        SocketError.system("The file can't be \(what).", errno: code == 0 ? ENOSPC : code)
    }

    /// Writes bytes behind those that were written.
    package func write(_ bytes: [UInt8]) throws(SocketError) {
        errno = 0
        if SystemCalls.writeAll(descriptor, bytes, bytes.indices) != bytes.count { throw Self.fault("written", errno) }
    }

    /// Writes what another file holds, from its beginning to its end; the system moves the bytes where it can.
    package func write(contentOf source: OpenedFile) throws(SocketError) {
        var moved: UInt64 = 0
        while true {
            let count = SystemCall.writeFile.make(on: descriptor) {
                cduplex_copy_range(source.descriptor, descriptor, 1 << 30)
            }
            if count == 0 { return }
            if count > 0 {
                moved += UInt64(count)
            } else if errno != EINTR {
                // Between some file systems it can't.
                if moved == 0, [ENOTSUP, EXDEV, EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) { break }
                throw Self.fault("written", errno)
            }
        }
        let range = try source.range(from: 0, count: source.size)
        while range.remaining > 0 {
            try write(try range.read(limit: 1 << 20))
        }
    }

    /// Has the system write all of it to the disk.
    package func sync() throws(SocketError) {
        let result = SystemCall.syncFile.make(on: descriptor) { fsync(descriptor) }
        if result != 0 { throw Self.fault("written to the disk", errno) }
    }

    /// Sets who may do what with it, as chmod(2) has it.
    package func setPermissions(_ permissions: UInt16) throws(SocketError) {
        let result = SystemCall.setPermissions.make(on: descriptor) { fchmod(descriptor, mode_t(permissions)) }
        if result != 0 { throw Self.fault("given its permissions", errno) }
    }

    // MARK: Going on

    /// Goes on behind what there is: what is written from here on is appended.
    ///
    /// - Returns: how much there is.
    package func seekToEnd() throws(SocketError) -> UInt64 {
        let end = SystemCall.fileStatus.make(on: descriptor) { lseek(descriptor, 0, SEEK_END) }
        if end < 0 { throw SocketError.system("The file has no end.", errno: errno) }
        return UInt64(end)
    }

    /// Drops what is behind so many bytes, and goes on there.
    package func cut(to size: UInt64) throws(SocketError) {
        let result = SystemCall.writeFile.make(on: descriptor) { ftruncate(descriptor, off_t(size)) }
        if result != 0 { throw SocketError.system("The file can't be cut.", errno: errno) }
        _ = try seekToEnd()
    }
}
