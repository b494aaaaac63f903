// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// Files that somebody goes on with.

extension WritableFile {
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
