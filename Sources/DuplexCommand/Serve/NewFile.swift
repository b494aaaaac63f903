// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Files that the command makes.
enum NewFile {
    /// Writes a text to a file, which has those permissions from its first moment on.
    ///
    /// - Parameters:
    ///   - text: what to write.
    ///   - path: where to.
    ///   - permissions: of a new file, and of one that is replaced.
    ///   - replaces: whether a file that is there is replaced instead of being an error.
    /// - Throws: ``Failure``.
    static func write(_ text: String, to path: String, permissions: mode_t, replaces: Bool) throws {
        if replaces { _ = unsafe unlink(path) }
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions)
        guard descriptor >= 0 else {
            let hint = errno == EEXIST ? "it is there already; --force replaces it" : "errno \(errno)"
            throw Failure(.failure, "“\(path)” can't be made: \(hint).")
        }
        defer { close(descriptor) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno != EINTR { throw Failure(.failure, "“\(path)” can't be written: errno \(errno).") }
            if count > 0 { rest = rest.dropFirst(count) }
        }
    }
}

/// `write(2)`, whose name the function above hides.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(descriptor, bytes, count)
}
