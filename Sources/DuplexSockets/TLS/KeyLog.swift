// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file that gets the keys of connections, in the form that Wireshark and others read (RFC 9850).
final class KeyLog: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        SystemCalls.close(descriptor)
    }

    /// Opens a file to append to; makes one that only its owner can read.
    ///
    /// - Parameter path: of the file; `nil` for no log.
    /// - Returns: the log, if there is to be one.
    /// - Throws: ``SocketError`` with ``SocketError/Code/system``.
    static func open(_ path: String?) throws(SocketError) -> KeyLog? {
        guard let path else { return nil }
        #if canImport(Glibc)
        let descriptor = unsafe Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        #else
        let descriptor = unsafe Darwin.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        #endif
        if descriptor < 0 {
            throw SocketError(.system, message: "The key log “\(path)” can't be opened.", errno: errno)
        }
        return KeyLog(descriptor)
    }

    /// Appends one line in one call, so that lines of several loops stay whole.
    ///
    /// A line that can't be written is lost: a full disk is no reason to end connections.
    func append(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = unsafe write(descriptor, bytes, bytes.count)
    }
}
