// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Synchronization

/// The recordings that were imported, in memory.
///
/// Kept are the last ones, at most as many and as large as its bounds say: nothing of them is on the disk.
final class RecordingStore: Sendable {
    /// How many recordings are kept.
    static let countLimit = 8
    /// How large the files that they came from may be together.
    static let byteLimit = ByteCount.mebibytes(64)

    /// A recording with what it is called.
    struct Entry: Sendable {
        let id: Int
        let name: String
        /// The size of the file.
        let size: Int
        /// How many entries of the file couldn't be read.
        let skipped: Int
        let recording: Recording
    }

    private let state = Mutex((last: 0, entries: [Entry]()))

    /// Keeps a recording.
    ///
    /// - Parameters:
    ///   - reading: what was read.
    ///   - name: what it is called; its first 200 characters count.
    ///   - size: the size of its file.
    /// - Returns: its number.
    @discardableResult
    func add(_ reading: HARFile.Reading, named name: String, size: Int) -> Int {
        state.withLock { state in
            state.last += 1
            let entry = Entry(
                id: state.last,
                name: String(name.prefix(200)),
                size: size,
                skipped: reading.skipped,
                recording: reading.recording
            )
            state.entries.append(entry)
            while state.entries.count > Self.countLimit
                || state.entries.count > 1 && state.entries.reduce(0, { $0 + $1.size }) > Self.byteLimit.bytes
            {
                state.entries.removeFirst()
            }
            return state.last
        }
    }

    /// All that are kept, the oldest first.
    var all: [Entry] { state.withLock { $0.entries } }

    /// One that is kept.
    subscript(id: Int) -> Entry? { all.first { $0.id == id } }

    /// Forgets one.
    func remove(_ id: Int) { state.withLock { $0.entries.removeAll { $0.id == id } } }
}
