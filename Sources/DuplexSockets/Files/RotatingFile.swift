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

    /// Appends whole lines, as many at a time as fit, the others to new files.
    ///
    /// - Parameter lines: with their ends.
    /// - Returns: how many were written; not those that are longer than a file may be, nor what the disk doesn't take.
    package mutating func append(_ lines: LineBatch) -> LineBatch.Outcome {
        var outcome = LineBatch.Outcome()
        var line = 0
        while line < lines.count {
            let count =
                makeRoom(for: lines.range(of: line).count)
                ? lines.count(from: line, endingBy: lines.start(of: line) + sizeLimit - size) : 0
            let written = count == 0 ? 0 : write(lines, line, count)
            outcome.written += written
            outcome.isWell = written == max(1, count)
            line += max(1, count)
        }
        return outcome
    }

    /// Makes way for a new file where a line doesn't fit.
    ///
    /// - Returns: whether there is room now.
    private mutating func makeRoom(for count: Int) -> Bool {
        if count > sizeLimit { return false }
        if descriptor >= 0 && size > 0 && count > sizeLimit - size { rotate() }
        if descriptor < 0 { open() }
        // The file before couldn't make way: better lose a line than fill the disk.
        return descriptor >= 0 && (size == 0 || count <= sizeLimit - size)
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

    /// Writes so many lines; returns how many of them the disk has taken whole.
    private mutating func write(_ lines: LineBatch, _ first: Int, _ count: Int) -> Int {
        let range = lines.start(of: first)..<lines.range(of: first + count - 1).upperBound
        let end = range.lowerBound + SystemCalls.writeAll(descriptor, lines.bytes, range)
        if end == range.upperBound {
            size += range.count
            return count
        }
        let written = lines.count(from: first, endingBy: end)
        let whole = written == 0 ? 0 : lines.range(of: first + written - 1).upperBound - range.lowerBound
        // Half a line would spoil the next one.
        if ftruncate(descriptor, off_t(size + whole)) == 0 {
            size += whole
        } else {
            size += end - range.lowerBound
        }
        return written
    }
}
