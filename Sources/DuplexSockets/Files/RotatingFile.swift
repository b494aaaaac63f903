// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file that lines are appended to, which makes way for a new one before it gets too long.
///
/// Its calls block for as long as the disk takes. The file before is the same path with `.1` behind it, the one before that
/// with `.2`, and so on; the oldest goes.
package struct RotatingFile: ~Copyable {
    private let path: String
    private let sizeLimit: Int
    private let fileLimit: Int
    /// -1 while it can't be opened.
    private var descriptor: Int32 = -1
    private var size = 0

    /// Opens a file to append to; makes one that only its owner can read.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - sizeLimit: how many bytes it has at most.
    ///   - fileLimit: how many files there are at most, this one among them.
    /// - Throws: ``SocketError`` with ``SocketError/Code/system``.
    package init(path: String, sizeLimit: Int, fileLimit: Int) throws(SocketError) {
        self.path = path
        self.sizeLimit = max(1, sizeLimit)
        self.fileLimit = max(1, fileLimit)
        open()
        if descriptor < 0 {
            throw SocketError(.system, message: "“\(path)” can't be opened to be appended to.", errno: errno)
        }
    }

    deinit {
        if descriptor >= 0 { SystemCalls.close(descriptor) }
    }

    /// Appends a whole line, to a new file where it doesn't fit.
    ///
    /// - Parameter line: with its end.
    /// - Returns: whether it was written; not when it is longer than a file may be, nor when the disk takes no more.
    package mutating func append(_ line: [UInt8]) -> Bool {
        if line.count > sizeLimit { return false }
        if descriptor >= 0 && size > 0 && line.count > sizeLimit - size { rotate() }
        if descriptor < 0 { open() }
        // The file before couldn't make way: better lose a line than fill the disk.
        guard descriptor >= 0, size == 0 || line.count <= sizeLimit - size else { return false }
        return write(line)
    }

    /// Opens the path anew, for whoever has moved the file away.
    package mutating func reopen() {
        if descriptor >= 0 { SystemCalls.close(descriptor) }
        open()
    }

    private mutating func open() {
        #if canImport(Glibc)
        descriptor = unsafe Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        #else
        descriptor = unsafe Darwin.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        #endif
        size = 0
        guard descriptor >= 0 else { return }
        var status = stat()
        if unsafe fstat(descriptor, &status) == 0 { size = Int(status.st_size) }
    }

    private mutating func rotate() {
        SystemCalls.close(descriptor)
        descriptor = -1
        if fileLimit == 1 {
            _ = unsafe unlink(path)
            return
        }
        for number in stride(from: fileLimit - 1, through: 1, by: -1) {
            let older = "\(path).\(number)"
            // What isn't there yet needs no other place.
            _ = unsafe rename(number == 1 ? path : "\(path).\(number - 1)", older)
        }
    }

    private mutating func write(_ line: [UInt8]) -> Bool {
        let count = SystemCalls.writeAll(descriptor, line)
        if count == line.count {
            size += count
            return true
        }
        // Half a line would spoil the next one.
        if ftruncate(descriptor, off_t(size)) != 0 { size += count }
        return false
    }
}
