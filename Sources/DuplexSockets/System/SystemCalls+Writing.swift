// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// write(2), for files and standard streams, and unlink(2).

extension SystemCalls {
    /// Writes all bytes of a range, for as long as that takes.
    ///
    /// - Parameters:
    ///   - descriptor: of a file or a stream; one that doesn't block is waited for, a second at a time.
    ///   - bytes: what is written is among them.
    ///   - range: where.
    /// - Returns: how many bytes were; fewer than there are when the system takes no more, and `errno` says why.
    static func writeAll(_ descriptor: Int32, _ bytes: [UInt8], _ range: Range<Int>) -> Int {
        var position = range.lowerBound
        while position < range.upperBound {
            let count = unsafe bytes.withUnsafeBytes { raw in
                SystemCall.writeFile.move(range.upperBound - position, on: descriptor) { count in
                    unsafe write(descriptor, UnsafeRawBufferPointer(rebasing: raw[position..<(position + count)]))
                }
            }
            if count > 0 {
                position += count
            } else if count == 0 || errno != EINTR && !(errno == EAGAIN && waitToWrite(descriptor)) {
                break
            }
        }
        return position - range.lowerBound
    }

    private static func waitToWrite(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&entry, 1, 1_000) > 0
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #else
        unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }

    /// Takes a file's name away; one that can't go stays.
    static func unlink(_ path: String) {
        #if canImport(Glibc)
        _ = SystemCall.unlink.make { unsafe Glibc.unlink(path) }
        #else
        _ = SystemCall.unlink.make { unsafe Darwin.unlink(path) }
        #endif
    }
}
