// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

/// Where a part of an open file lies: for any number of ranges that read it, each from its beginning.
package struct FilePart: Sendable {
    let file: FileRange.OpenFile
    /// Where it begins.
    package let offset: UInt64
    /// Its length.
    package let count: UInt64

    /// What reading without waiting gave.
    package enum CachedRead: Sendable, Equatable {
        /// All of it.
        case whole
        /// Nothing: the disk would have to be waited for.
        case notCached
        /// Nothing: the file has become shorter, or can't be read.
        case missing
    }

    /// Appends all of a short part to bytes, if that needs no wait for the disk.
    ///
    /// - Parameter bytes: stay as they are unless the part was read whole.
    /// - Returns: the result.
    package func readCached(into bytes: inout [UInt8]) -> CachedRead {
        let wanted = Int(clamping: count)
        if wanted == 0 { return .whole }
        let before = bytes.count
        var (read, code) = (0, Int32(0))
        bytes.append(addingCapacity: wanted) { output in
            unsafe output.withUnsafeMutableBufferPointer { room, initialized in
                let free = unsafe room.baseAddress.map { unsafe $0 + initialized }
                read = unsafe SystemCalls.readCached(file.descriptor, into: free, wanted, at: offset)
                code = read < 0 ? errno : 0
                initialized += max(0, read)
            }
        }
        if read == wanted { return .whole }
        bytes.removeLast(bytes.count - before)
        // Less than all: the rest isn't in the cache, or not in the file, which shows when it is read.
        if read > 0 || code == EAGAIN || code == EOPNOTSUPP || code == EINTR { return .notCached }
        return .missing
    }
}

extension SystemCalls {
    /// Reads what the system has in its cache; EAGAIN where it has nothing of it, EOPNOTSUPP where it doesn't know.
    static func readCached(
        _ descriptor: Int32,
        into room: UnsafeMutableRawPointer?,
        _ count: Int,
        at offset: UInt64
    ) -> Int {
        SystemCall.readCached.move(count, on: descriptor) { count in
            #if os(Linux)
            return unsafe cduplex_read_cached(descriptor, room, count, off_t(offset))
            #else
            errno = EOPNOTSUPP
            return -1
            #endif
        }
    }
}
