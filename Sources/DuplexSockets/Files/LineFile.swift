// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Appends lines to a ``RotatingFile`` on a thread of its own, so that who has something to write never waits for the disk.
///
/// A bounded number of lines wait; what comes beyond that, and what the disk doesn't take, is dropped and counted.
package final class LineFile: Sendable {
    /// The file, which the queue's writer has to itself.
    private final class Storage: Sendable {
        let file: Mutex<RotatingFile>
        /// Whether the path is to be opened anew before the next line.
        let isMoved = Atomic(false)

        init(_ file: consuming sending RotatingFile) {
            self.file = Mutex(file)
        }

        func reopenIfMoved() {
            file.withLock { file in
                if isMoved.exchange(false, ordering: .relaxed) { file.reopen() }
            }
        }

        func append(_ lines: LineBatch) -> LineBatch.Outcome {
            file.withLock { file in
                if isMoved.exchange(false, ordering: .relaxed) { file.reopen() }
                return file.append(lines)
            }
        }
    }

    /// How long a line may wait for others, with which one call writes it.
    private static let pause = Duration.milliseconds(50)

    private let queue: LineQueue
    /// `nil` for a stream, which has no path.
    private let storage: Storage?

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - sizeLimit: how many bytes it has at most.
    ///   - fileLimit: how many files there are at most.
    ///   - queueLimit: how many lines wait at most.
    ///   - byteLimit: how many bytes they have together at most. Default: no bound.
    ///   - noteOfDrops: makes a line which says that so many were dropped. Default: there is none.
    /// - Throws: ``SocketError`` with ``SocketError/Code/system``.
    package init(
        path: String,
        sizeLimit: Int,
        fileLimit: Int,
        queueLimit: Int,
        byteLimit: Int = .max,
        noteOfDrops: @escaping @Sendable (Int) -> String? = { _ in nil }
    ) throws(SocketError) {
        let storage = Storage(try RotatingFile(path: path, sizeLimit: sizeLimit, fileLimit: fileLimit))
        self.storage = storage
        queue = LineQueue(
            name: "duplex-lines",
            lineLimit: queueLimit,
            byteLimit: byteLimit,
            pause: Self.pause,
            noteOfDrops: { noteOfDrops($0).map(Self.bytes) },
            writer: { storage.append($0) }
        )
    }

    /// Appends to a stream that is somebody else's, such as standard output, which stays open.
    ///
    /// - Parameters:
    ///   - descriptor: of the stream.
    ///   - queueLimit: how many lines wait at most.
    ///   - byteLimit: how many bytes they have together at most.
    ///   - noteOfDrops: makes a line which says that so many were dropped.
    package convenience init(
        descriptor: Int32,
        queueLimit: Int,
        byteLimit: Int,
        noteOfDrops: @escaping @Sendable (Int) -> String?
    ) {
        self.init(queueLimit: queueLimit, byteLimit: byteLimit, noteOfDrops: noteOfDrops) { bytes in
            SystemCalls.writeAll(descriptor, bytes, bytes.indices)
        }
    }

    /// Hands lines to a function that writes them.
    ///
    /// - Parameters:
    ///   - queueLimit: how many lines wait at most.
    ///   - byteLimit: how many bytes they have together at most.
    ///   - noteOfDrops: makes a line which says that so many were dropped.
    ///   - writer: writes bytes, as long as that takes, and returns how many of them it wrote; called on the thread of
    ///     the queue, never twice at a time.
    package init(
        queueLimit: Int,
        byteLimit: Int,
        noteOfDrops: @escaping @Sendable (Int) -> String?,
        writer: @escaping @Sendable ([UInt8]) -> Int
    ) {
        storage = nil
        queue = LineQueue(
            name: "duplex-lines",
            lineLimit: queueLimit,
            byteLimit: byteLimit,
            pause: Self.pause,
            noteOfDrops: { noteOfDrops($0).map(Self.bytes) },
            writer: { lines in
                let end = writer(lines.bytes)
                return LineBatch.Outcome(
                    written: lines.count(from: 0, endingBy: end),
                    isWell: end == lines.bytes.count
                )
            }
        )
    }

    package var counts: LineQueue.Counts { queue.counts }

    /// Has a line appended, without waiting; from any thread.
    package func append(_ line: String) {
        queue.append(Self.bytes(line))
    }

    /// Has a line appended that has its end.
    package func append(_ line: [UInt8]) {
        queue.append(line)
    }

    private static func bytes(_ line: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(line.utf8.count + 1)
        bytes.append(utf8: line)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// Has the path opened anew soon, and before the next line, without waiting: somebody has moved the file away.
    package func reopen() {
        guard let storage else { return }
        storage.isMoved.store(true, ordering: .relaxed)
        BlockingThreads.files.run(unawaited: { storage.reopenIfMoved() })
    }

    /// Waits until everything that was appended before is written or dropped.
    package func flush() async {
        await queue.flush()
    }

    /// Waits as ``flush()`` does, at most for so long.
    package func flush(within limit: Duration) async {
        await queue.flush(within: limit)
    }

    /// Has writing wait while `body` runs, for tests.
    func holding<Result>(_ body: () throws -> Result) rethrows -> Result {
        try queue.holding(body)
    }
}
