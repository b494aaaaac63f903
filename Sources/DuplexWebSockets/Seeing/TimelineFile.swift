// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// A file of connections, one line of JSON for each that has ended and for each attempt that failed.
final class TimelineFile: Sendable {
    private let file: LineFile
    private let time: @Sendable () -> UnixTime

    /// How many lines wait to be written at most.
    static let queueLimit = 1_000

    /// Opens a file to append to, or makes it; see ``TimelineSink/file(path:sizeLimit:fileLimit:)``.
    init(
        path: String,
        sizeLimit: ByteCount,
        fileLimit: Int,
        time: @escaping @Sendable () -> UnixTime = { UnixTime.now }
    ) throws(SocketError) {
        self.time = time
        file = try LineFile(
            path: path,
            sizeLimit: sizeLimit.bytes,
            fileLimit: fileLimit,
            queueLimit: Self.queueLimit
        )
    }

    /// How many lines were written.
    var writtenCount: Int { file.counts.written }

    /// How many lines were dropped.
    var droppedCount: Int { file.counts.dropped }

    /// Waits until all earlier timelines are in the file, or were dropped; for the end of a program.
    func flush() async {
        await file.flush()
    }

    func append(_ report: TimelineReport) {
        file.append(report.json(at: time().description).text)
    }
}
