// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The bytes of a body or a payload that were kept, and how many there were.
struct RecordedBytes: Sendable, Equatable {
    /// The first of them.
    var bytes: [UInt8] = []
    /// How many there were.
    var size: UInt64 = 0
    /// Whether they are as they went over the wire, compressed: nobody finds anything in them, nor do secrets show.
    var isCoded = false

    /// Whether not all were kept.
    var isCut: Bool { size > UInt64(bytes.count) }

    /// None.
    init() {}

    /// Keeps all.
    init(_ bytes: [UInt8]) {
        self.init(bytes, of: UInt64(bytes.count))
    }

    /// Keeps the first bytes of some.
    ///
    /// - Parameters:
    ///   - bytes: the first.
    ///   - size: how many there were; never fewer than those.
    init(_ bytes: [UInt8], of size: UInt64) {
        self.bytes = bytes
        self.size = max(size, UInt64(bytes.count))
    }
}
