// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension ResolverConfiguration {
    /// More of a file isn't read.
    private static let sizeLimit = 65_536

    /// Reads a resolv.conf(5) file.
    ///
    /// Where there is none, the name server on this machine is asked, as the system's own resolver does. The file is read
    /// once; a later change of it is seen by whoever reads it again.
    ///
    /// - Parameter path: of the file. Default: the system's own.
    /// - Returns: the configuration.
    /// - Throws: ``SocketError`` with ``SocketError/Code/system`` when the file is there and can't be read.
    public static func system(path: String = "/etc/resolv.conf") throws(SocketError) -> ResolverConfiguration {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return ResolverConfiguration() }
            throw SocketError(.system, message: "“\(path)” can't be opened.", errno: errno)
        }
        defer { SystemCalls.close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: sizeLimit)
        var count = 0
        while count < sizeLimit {
            let result = unsafe bytes.withUnsafeMutableBytes { raw in
                unsafe read(descriptor, raw.baseAddress?.advanced(by: count), sizeLimit - count)
            }
            if result == 0 { break }
            if result > 0 {
                count += result
            } else if errno != EINTR {
                throw SocketError(.system, message: "“\(path)” can't be read.", errno: errno)
            }
        }
        return ResolverConfiguration(parsing: String(decoding: bytes.prefix(count), as: UTF8.self))
    }
}
