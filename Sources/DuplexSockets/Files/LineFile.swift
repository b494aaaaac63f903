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

        init(_ file: consuming sending RotatingFile) {
            self.file = Mutex(file)
        }
    }

    private let queue: LineQueue

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - sizeLimit: how many bytes it has at most.
    ///   - fileLimit: how many files there are at most.
    ///   - queueLimit: how many lines wait at most.
    /// - Throws: ``SocketError`` with ``SocketError/Code/system``.
    package init(path: String, sizeLimit: Int, fileLimit: Int, queueLimit: Int) throws(SocketError) {
        let storage = Storage(try RotatingFile(path: path, sizeLimit: sizeLimit, fileLimit: fileLimit))
        queue = LineQueue(name: "duplex-lines", lineLimit: queueLimit) { line in
            storage.file.withLock { $0.append(line) }
        }
    }

    package var counts: LineQueue.Counts { queue.counts }

    /// Has a line appended, without waiting; from any thread.
    package func append(_ line: String) {
        queue.append(Array((line + "\n").utf8))
    }

    /// Waits until everything that was appended before is written or dropped.
    package func flush() async {
        await queue.flush()
    }

    /// Has writing wait while `body` runs, for tests.
    func holding<Result>(_ body: () throws -> Result) rethrows -> Result {
        try queue.holding(body)
    }
}
