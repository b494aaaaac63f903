// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import CDuplexSystem
import Darwin
#endif

// Extended attributes (xattr(7)): what a file system keeps with a file or folder beside its content.

extension OpenedFile {
    /// The most bytes of a value that are read; file systems have lower bounds of their own.
    private static let bound = 64 * 1_024

    /// The value of an attribute; `nil` where there is none.
    ///
    /// - Parameter name: such as `user.origin`.
    /// - Returns: the value.
    /// - Throws: ``SocketError`` with the error number: ENOTSUP where the file system has no attributes.
    package func attribute(_ name: String) throws(SocketError) -> [UInt8]? {
        var value = [UInt8](repeating: 0, count: Self.bound)
        let count = SystemCall.readFile.make(on: descriptor) {
            unsafe cduplex_get_attribute(descriptor, name, &value, Self.bound)
        }
        if count >= 0 { return Array(value[..<count]) }
        if errno == ENODATA { return nil }
        throw SocketError.system("The attribute “\(name)” can't be read.", errno: errno)
    }

    /// Sets an attribute, or takes it away.
    ///
    /// - Parameters:
    ///   - name: such as `user.origin`.
    ///   - value: `nil` to take it away.
    /// - Throws: ``SocketError`` with the error number: ENOTSUP where the file system has no attributes, ENOSPC or E2BIG where
    ///   the value doesn't fit.
    package func setAttribute(_ name: String, _ value: [UInt8]?) throws(SocketError) {
        let result = SystemCall.writeFile.make(on: descriptor) {
            guard let value else { return unsafe cduplex_remove_attribute(descriptor, name) }
            return unsafe cduplex_set_attribute(descriptor, name, value, value.count)
        }
        if result == 0 || value == nil && errno == ENODATA { return }
        throw SocketError.system("The attribute “\(name)” can't be set.", errno: errno)
    }
}
