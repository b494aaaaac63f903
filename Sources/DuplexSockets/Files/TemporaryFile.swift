// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A new file that is removed with the last reference to it, unless it was given a name to keep.
///
/// Only its owner may read and write it. Its calls block for as long as the disk takes.
package final class TemporaryFile: Sendable {
    private struct State {
        var path: String
        /// -1 once it is closed.
        var descriptor: Int32
        var isKept = false
    }

    private let state: Mutex<State>

    /// Where it is.
    package var path: String { state.withLock { $0.path } }

    /// Makes a file that wasn't there before.
    ///
    /// Its name is one that nobody can guess: others may write to the folder.
    ///
    /// - Parameter folder: where; nil for the system's folder for such files (`TMPDIR`, or `/tmp`).
    /// - Throws: ``SocketError`` with ``SocketError/Code/system``.
    package init(in folder: String? = nil) throws(SocketError) {
        let folder = folder ?? EnvironmentVariables.value(of: "TMPDIR") ?? "/tmp"
        var generator = SystemRandomNumberGenerator()
        let name = (0..<2).map { _ in String(generator.next(), radix: 36) }.joined()
        let path = "\(folder)\(folder.hasSuffix("/") ? "" : "/").duplex-\(name)"
        let descriptor = SystemCall.openFile.make { Self.open(path) }
        guard descriptor >= 0 else {
            throw SocketError.system("“\(path)” can't be made.", errno: errno)
        }
        state = Mutex(State(path: path, descriptor: descriptor))
    }

    deinit {
        let (path, descriptor, isKept) = state.withLock { ($0.path, $0.descriptor, $0.isKept) }
        if descriptor >= 0 { SystemCalls.close(descriptor) }
        if isKept { return }
        // A slow disk would hold up the owner of the last reference, such as a loop.
        BlockingThreads.files.run(unawaited: { SystemCalls.unlink(path) })
    }

    /// Appends bytes.
    ///
    /// - Parameter bytes: all of them are written.
    /// - Throws: ``SocketError`` with ``SocketError/Code/system``, as when the disk is full.
    package func write(_ bytes: [UInt8]) throws(SocketError) {
        let code = state.withLock { state -> Int32 in
            if state.descriptor < 0 { return EBADF }
            errno = 0
            if SystemCalls.writeAll(state.descriptor, bytes, bytes.indices) == bytes.count { return 0 }
            // What writes nothing, and says no reason, has no room.
            return errno == 0 ? ENOSPC : errno
        }
        if code != 0 { throw SocketError.system("“\(path)” can't be written.", errno: code) }
    }

    /// Closes it: all has been written.
    ///
    /// - Throws: ``SocketError`` with ``SocketError/Code/system`` when the system has lost some of it.
    package func close() throws(SocketError) {
        let code = state.withLock { state -> Int32 in
            defer { state.descriptor = -1 }
            if state.descriptor < 0 { return 0 }
            return Self.close(state.descriptor)
        }
        if code != 0 { throw SocketError.system("“\(path)” can't be written.", errno: code) }
    }

    /// Gives it a name to keep, on the same file system.
    ///
    /// - Parameters:
    ///   - target: the path.
    ///   - replaces: whether a file that is there is replaced.
    /// - Throws: ``SocketError`` with ``SocketError/Code/fileExists``, ``SocketError/Code/otherFileSystem``, or
    ///   ``SocketError/Code/system`` for other reasons; it is where it was then.
    package func keep(as target: String, replacing replaces: Bool) throws(SocketError) {
        try state.withLock { state throws(SocketError) in
            if state.isKept { throw SocketError.invalidArgument("“\(state.path)” was given its name before.") }
            let code = replaces ? Self.rename(state.path, target) : Self.link(state.path, target)
            if code != 0 { throw Self.notKept(state.path, target, code) }
            state.isKept = true
            state.path = target
        }
    }

    private static func notKept(_ path: String, _ target: String, _ code: Int32) -> SocketError {
        switch code {
        case EEXIST: SocketError(.fileExists, message: "There is a file “\(target)” already.", errno: code)
        case EXDEV:
            SocketError(
                .otherFileSystem,
                message: "“\(path)” can't become “\(target)”, which is on another file system.",
                errno: code
            )
        default: SocketError.system("“\(path)” can't become “\(target)”.", errno: code)
        }
    }

    // MARK: System calls

    // `unsafe` below: the C library gets texts, which the compiler hands over for the length of the call.

    private static func open(_ path: String) -> Int32 {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        #if canImport(Glibc)
        return unsafe Glibc.open(path, flags, 0o600)
        #else
        return unsafe Darwin.open(path, flags, 0o600)
        #endif
    }

    private static func close(_ descriptor: Int32) -> Int32 {
        #if canImport(Glibc)
        let result = Glibc.close(descriptor)
        #else
        let result = Darwin.close(descriptor)
        #endif
        // Interrupted, it is closed all the same.
        return result == 0 || errno == EINTR ? 0 : errno
    }

    private static func rename(_ path: String, _ target: String) -> Int32 {
        #if canImport(Glibc)
        let result = SystemCall.renameFile.make { unsafe Glibc.rename(path, target) }
        #else
        let result = SystemCall.renameFile.make { unsafe Darwin.rename(path, target) }
        #endif
        return result == 0 ? 0 : errno
    }

    /// A second name, which unlike that of rename(2) takes nobody's place; then the first one goes.
    private static func link(_ path: String, _ target: String) -> Int32 {
        #if canImport(Glibc)
        let result = SystemCall.renameFile.make { unsafe Glibc.link(path, target) }
        #else
        let result = SystemCall.renameFile.make { unsafe Darwin.link(path, target) }
        #endif
        if result != 0 { return errno }
        SystemCalls.unlink(path)
        return 0
    }
}
