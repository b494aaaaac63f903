// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import CDuplexSystem
import Darwin
#endif

/// An extended attribute (xattr(7)) of a file that isn't opened.
package struct FileAttribute: Sendable, Hashable {
    /// Such as `user.origin`.
    package var name: String
    /// How many bytes the value has.
    package var size: Int
    /// The first of them.
    package var bytes: [UInt8]

    /// How many attributes are read at most.
    package static let countLimit = 100
    /// How much of each value is read at most.
    package static let sizeLimit = 4_096
    /// The bytes that all names and each value may have: the system's own bound.
    private static let bound = 64 * 1_024

    package init(name: String, size: Int, bytes: [UInt8]) {
        self.name = name
        self.size = size
        self.bytes = bytes
    }

    /// The attributes of what is at a path, and no link; by name.
    ///
    /// - Parameter path: the path.
    /// - Returns: the first hundred; none where there are none, or the file system has none, or they can't be read.
    package static func all(at path: String) -> [FileAttribute] {
        var names = [UInt8](repeating: 0, count: bound)
        let count = unsafe names.withUnsafeMutableBytes { names in
            unsafe names.withMemoryRebound(to: CChar.self) { names in
                unsafe cduplex_list_attributes_at(path, names.baseAddress, names.count)
            }
        }
        guard count > 0 else { return [] }
        return names[..<count].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.sorted().prefix(
            countLimit
        )
        .compactMap { value(of: $0, at: path) }
    }

    /// The attribute of that name; `nil` where it can't be read.
    private static func value(of name: String, at path: String) -> FileAttribute? {
        var value = [UInt8](repeating: 0, count: bound)
        let count = unsafe cduplex_get_attribute_at(path, name, &value, bound)
        guard count >= 0 else { return nil }
        return FileAttribute(name: name, size: count, bytes: Array(value[..<min(count, sizeLimit)]))
    }
}
