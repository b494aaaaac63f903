// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Synchronization

/// A part of an open file for responses, each of which sends it from its beginning.
final class ResponseFile: Sendable {
    // Locked because it has a place of its own, though nobody moves it here.
    private let file: Mutex<FileRange>
    /// How many bytes the part has.
    let count: Int

    init(path: String, offset: UInt64, count: UInt64?) throws(SocketError) {
        let range = try FileRange(path: path, offset: offset, count: count)
        self.count = Int(clamping: range.remaining)
        file = Mutex(range)
    }

    init(_ range: sending FileRange) {
        count = Int(clamping: range.remaining)
        file = Mutex(range)
    }

    /// The part, to be sent once.
    func range() throws(SocketError) -> sending FileRange {
        try file.withLock { (file) throws(SocketError) -> sending FileRange in try file.copy() }
    }
}
