// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// A part of an open file for responses, each of which sends it from its beginning.
final class ResponseFile: Sendable {
    let part: FilePart
    /// Whether it was just looked at: the file had this part when the response was made.
    private let isFresh: Bool
    /// How many bytes the part has.
    let count: Int

    init(path: String, offset: UInt64, count: UInt64?) throws(SocketError) {
        part = try FileRange(path: path, offset: offset, count: count).part
        self.count = Int(clamping: part.count)
        isFresh = false
    }

    /// Takes a part that the file has now, for one response that is sent at once.
    init(fresh part: FilePart) {
        self.part = part
        count = Int(clamping: part.count)
        isFresh = true
    }

    /// The part, to be sent once.
    func range() throws(SocketError) -> sending FileRange {
        if isFresh { return FileRange(part) }
        return try FileRange(checking: part)
    }
}
