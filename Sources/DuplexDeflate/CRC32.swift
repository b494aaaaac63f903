// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexZlib

/// A checksum by zlib, as zip has it: CRC-32 of ISO 3309.
package struct CRC32: Sendable, Hashable {
    /// That of all bytes so far.
    package private(set) var value: UInt32 = 0

    /// Begins with no bytes.
    package init() {}

    /// Adds the bytes that follow.
    package mutating func add(_ bytes: RawSpan) {
        // `unsafe`: lent for the length of the call, with its length.
        value = unsafe bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return value }
            return UInt32(
                truncatingIfNeeded: unsafe crc32_z(
                    UInt(value),
                    start.assumingMemoryBound(to: UInt8.self),
                    bytes.count
                )
            )
        }
    }
}
