// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import DuplexWire

/// A file of connections, one line of JSON for each that has ended and for each attempt that failed.
///
/// Written on a thread of its own: no connection waits for the disk. Lines that find ``Options/queueLimit`` others waiting,
/// and those that the disk doesn't take, are dropped and counted. Only the owner can read the file. Names of lines' members
/// that end in `_us` are microseconds: with `_took_us` how long a stage took, all others since one origin, the beginning of
/// the attempt or of a server's connection (`start_us`, `end_us`, `opened_us`, `first_message_us`, `closed_us`, `failed_us`).
/// `time` is the date and time of the end, in UTC; `url` has no credentials and no query; `reason` is the close frame's.
///
/// > Warning: Errors may have a server's response, and addresses identify people.
public final class TimelineFile: Sendable {
    /// How much is kept.
    public struct Options: Sendable, Hashable {
        /// The longest file; then a new one begins.
        ///
        /// Default: 10 MiB.
        public var sizeLimit = ByteCount.mebibytes(10)
        /// How many files are kept, with the current one.
        ///
        /// Default: 5.
        ///
        /// The one before has `.1` after its path, and so on.
        public var fileLimit = 5
        /// How many lines wait to be written at most.
        ///
        /// Default: 1,000.
        public var queueLimit = 1_000

        /// The defaults.
        public init() {}
    }

    private let file: LineFile
    private let time: @Sendable () -> UnixTime

    /// Opens a file to append to, or makes it.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - options: how much is kept.
    /// - Throws: `SocketError` with `system` when it can't be opened.
    public convenience init(path: String, options: Options = Options()) throws(SocketError) {
        try self.init(path: path, options: options) { UnixTime.now }
    }

    init(path: String, options: Options, time: @escaping @Sendable () -> UnixTime) throws(SocketError) {
        self.time = time
        file = try LineFile(
            path: path,
            sizeLimit: options.sizeLimit.bytes,
            fileLimit: options.fileLimit,
            queueLimit: options.queueLimit
        )
    }

    /// How many lines were written.
    public var writtenCount: Int { file.counts.written }

    /// How many lines were dropped.
    public var droppedCount: Int { file.counts.dropped }

    /// Waits until all earlier timelines are in the file, or were dropped; for the end of a program.
    public func flush() async {
        await file.flush()
    }

    func append(_ report: TimelineReport) {
        file.append(report.json(at: time().description).text)
    }
}
