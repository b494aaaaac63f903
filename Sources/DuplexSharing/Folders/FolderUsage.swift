// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Synchronization

/// How much room there is in a ``SharedFolder``.
package struct FolderSpace: Sendable, Hashable {
    /// The bytes of all files in it; 0 where there is no quota, and nobody counts.
    package let used: UInt64
    /// The bytes that may still be written: of the disk, or of the quota where that is less.
    package let free: UInt64
    /// The most bytes that it may have.
    package let quota: UInt64?
}

/// How many bytes the files of a folder have: counted now and then, and what was written since is added.
final class FolderUsage: Sendable {
    private struct State {
        var counted: Instant?
        var bytes: UInt64 = 0
    }

    private let state = Mutex(State())
    private let root: OpenedFolder
    /// For how long a count holds; others may write there, too.
    static let age = Duration.seconds(60)

    init(root: OpenedFolder) {
        self.root = root
    }

    /// The bytes; blocks for as long as the counting takes, if it is time for that.
    func bytes(at now: Instant) throws(SocketError) -> UInt64 {
        let known = state.withLock { state in
            state.counted.flatMap { $0.duration(to: now) < Self.age ? state.bytes : nil }
        }
        if let known { return known }
        let counted = try FolderTree.size(of: root).bytes
        return state.withLock { state in
            state.counted = now
            state.bytes = counted
            return counted
        }
    }

    /// So many bytes have come.
    func add(_ count: UInt64) {
        state.withLock { $0.bytes += count }
    }

    /// Something has gone: it is counted anew when that is asked for.
    func forget() {
        state.withLock { $0.counted = nil }
    }
}
