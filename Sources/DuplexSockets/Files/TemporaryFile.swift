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
        // A slow disk would hold up whoever lets go of it last, such as a loop.
        BlockingThreads.files.run(unawaited: { Self.unlink(path) })
    }

    /// Appends bytes.
    ///
    /// - Parameter bytes: all of them are written.
    /// - Throws: ``SocketError`` with ``SocketError/Code/system``, as when the disk is full.
    package func write(_ bytes: [UInt8]) throws(SocketError) {
        let code = state.withLock { state in Self.write(bytes, to: state.descriptor) }
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
    /// - Throws: ``SocketError`` with ``SocketError/Code/system``; it is where it was then.
    package func keep(as target: String, replacing replaces: Bool) throws(SocketError) {
        let code = state.withLock { state -> Int32 in
            if state.isKept { return ENOENT }
            let code = replaces ? Self.rename(state.path, target) : Self.link(state.path, target)
            if code != 0 { return code }
            state.isKept = true
            state.path = target
            return 0
        }
        if code != 0 { throw SocketError.system("“\(path)” can't become “\(target)”.", errno: code) }
    }

    // MARK: System calls

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

    /// - Returns: 0, or the number of the error.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        guard descriptor >= 0 else { return EBADF }
        var position = 0
        while position < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { raw in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: raw[position...])
                #if canImport(Glibc)
                return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
                #else
                return unsafe Darwin.write(descriptor, rest.baseAddress, rest.count)
                #endif
            }
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return count == 0 ? ENOSPC : errno }
            position += count
        }
        return 0
    }

    private static func rename(_ path: String, _ target: String) -> Int32 {
        #if canImport(Glibc)
        unsafe Glibc.rename(path, target) == 0 ? 0 : errno
        #else
        unsafe Darwin.rename(path, target) == 0 ? 0 : errno
        #endif
    }

    /// A second name, which unlike that of rename(2) takes nobody's place; then the first one goes.
    private static func link(_ path: String, _ target: String) -> Int32 {
        #if canImport(Glibc)
        let result = unsafe Glibc.link(path, target)
        #else
        let result = unsafe Darwin.link(path, target)
        #endif
        if result != 0 { return errno }
        unlink(path)
        return 0
    }

    private static func unlink(_ path: String) {
        #if canImport(Glibc)
        _ = SystemCall.unlink.make { unsafe Glibc.unlink(path) }
        #else
        _ = SystemCall.unlink.make { unsafe Darwin.unlink(path) }
        #endif
    }
}
