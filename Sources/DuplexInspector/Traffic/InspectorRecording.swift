// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Synchronization

/// A recording that the inspector's page shows from the beginning; see ``InspectorOptions/recordings``.
public struct InspectorRecording: Sendable {
    /// Why a file can't be shown.
    public struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// The reason, in a sentence.
        public let description: String
    }

    let name: String
    let size: Int
    let reading: HARFile.Reading

    /// Reads an HTTP archive (HAR 1.2), with the messages of WebSockets as Chromium writes them.
    ///
    /// What an archive lacks is taken as unknown, and entries that can't be read are left out.
    ///
    /// - Parameters:
    ///   - bytes: the file; at most 32 MiB.
    ///   - name: what the page calls it.
    /// - Throws: ``Refusal`` for what is no archive, or too long.
    public init(har bytes: [UInt8], named name: String) throws(Refusal) {
        do {
            reading = try HARFile.read(bytes)
        } catch {
            throw Refusal(description: error.description)
        }
        self.name = name
        size = bytes.count
    }
}

/// Recordings that are looked at, in memory: those of the app, and those that were imported.
///
/// Kept of each are the last ones, at most as many and as large as the bounds say: whoever imports takes the room of other
/// imports, and never that of what the app shows. Nothing of them is on the disk.
final class RecordingStore: Sendable {
    /// How many recordings are kept of each kind.
    static let countLimit = 8
    /// How large the files that those of a kind came from may be together.
    static let byteLimit = ByteCount.mebibytes(64)

    /// A recording with what it is called.
    struct Entry: Sendable {
        let id: Int
        /// Whether somebody has imported it.
        let isImported: Bool
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
    ///   - isImported: whether somebody has imported it. Default: yes.
    /// - Returns: its number.
    @discardableResult
    func add(_ reading: HARFile.Reading, named name: String, size: Int, isImported: Bool = true) -> Int {
        state.withLock { state in
            state.last += 1
            let entry = Entry(
                id: state.last,
                isImported: isImported,
                name: String(name.prefix(200)),
                size: size,
                skipped: reading.skipped,
                recording: reading.recording
            )
            state.entries.append(entry)
            Self.makeRoom(among: isImported, &state.entries)
            return state.last
        }
    }

    private static func makeRoom(among isImported: Bool, _ entries: inout [Entry]) {
        while true {
            let kind = entries.filter { $0.isImported == isImported }
            let size = kind.reduce(0) { $0 + $1.size }
            guard kind.count > countLimit || kind.count > 1 && size > byteLimit.bytes, let first = kind.first else {
                return
            }
            entries.removeAll { $0.id == first.id }
        }
    }

    /// All that are kept, the oldest first.
    var all: [Entry] { state.withLock { $0.entries } }

    /// One that is kept.
    subscript(id: Int) -> Entry? { all.first { $0.id == id } }

    /// Forgets one.
    func remove(_ id: Int) { state.withLock { $0.entries.removeAll { $0.id == id } } }
}
