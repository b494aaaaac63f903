// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import DuplexWire

/// A file of requests, one line for each, which makes way for a new one before it gets too long.
///
/// Written on a thread of its own: no request waits for the disk. Lines that find 10,000 others
/// waiting, and those that the disk doesn't take, are dropped and counted, and a line among the others says how many.
/// Only the owner can read the file.
public final class AccessLogFile: Sendable {
    /// How much is kept.
    package struct Options: Sendable, Hashable {
        /// How long a file may get before it makes way for a new one.
        package var sizeLimit = ByteCount.mebibytes(100)
        /// How many files there are, the one that is written among them.
        package var fileLimit = 5
        /// How many lines wait to be written at most, in 16 MiB at most.
        package var queueLimit = 10_000

        /// Makes the defaults.
        package init() {}
    }

    /// How many bytes wait at most.
    static let byteLimit = 16 * 1_024 * 1_024

    let lines: AccessLines

    /// Opens a file to append to, or makes it.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - format: of its lines. Default: `.combined`.
    ///   - sizeLimit: how long the file may get before it makes way for a new one. Default: 100 MiB.
    ///   - fileLimit: how many files there are, the one that is written among them; the one before has `.1` after its path, and
    ///     so on. Default: 5.
    /// - Throws: `SocketError` with `system` when it can't be opened.
    public convenience init(
        path: String,
        format: AccessLogFormat = .combined,
        sizeLimit: ByteCount = .mebibytes(100),
        fileLimit: Int = 5
    ) throws(SocketError) {
        var options = Options()
        options.sizeLimit = sizeLimit
        options.fileLimit = fileLimit
        try self.init(path: path, format: format, options: options)
    }

    /// Opens a file with other bounds.
    package convenience init(
        path: String,
        format: AccessLogFormat = .combined,
        options: Options
    ) throws(SocketError) {
        try self.init(path: path, format: format, options: options, clock: LogClock())
    }

    init(path: String, format: AccessLogFormat, options: Options, clock: LogClock) throws(SocketError) {
        let file = try LineFile(
            path: path,
            sizeLimit: options.sizeLimit.bytes,
            fileLimit: options.fileLimit,
            queueLimit: options.queueLimit,
            byteLimit: Self.byteLimit,
            noteOfDrops: { format.note(ofDropped: $0) }
        )
        lines = AccessLines(file, format, clock)
    }

    /// Opens the path again, at once and before the next line: for a program that moves log files away, and then sends a signal.
    ///
    /// Doesn't wait.
    public func reopen() {
        lines.file.reopen()
    }

    /// How many lines were written.
    package var writtenCount: Int { lines.file.counts.written }

    /// How many lines were dropped.
    package var droppedCount: Int { lines.file.counts.dropped }

    /// Waits until the lines of all requests so far are in the file, or were dropped; the end of ``WebServer/run(onListening:)``
    /// does so for 2 seconds at most.
    public func flush() async {
        await lines.file.flush()
    }
}

/// Where lines of an access log go, and what they look like.
final class AccessLines: Sendable {
    let file: LineFile
    private let format: AccessLogFormat
    private let clock: LogClock
    /// Of a stream that is somebody else's; `nil` for a file.
    let descriptor: Int32?

    init(
        _ file: LineFile,
        _ format: AccessLogFormat,
        _ clock: LogClock = LogClock(),
        descriptor: Int32? = nil
    ) {
        self.file = file
        self.descriptor = descriptor
        self.format = format
        self.clock = clock
    }

    /// Lines to a descriptor that is somebody else's.
    convenience init(descriptor: Int32, _ format: AccessLogFormat) {
        let file = LineFile(
            descriptor: descriptor,
            queueLimit: AccessLogFile.Options().queueLimit,
            byteLimit: AccessLogFile.byteLimit,
            noteOfDrops: { format.note(ofDropped: $0) }
        )
        self.init(file, format, descriptor: descriptor)
    }

    /// Lines to a function that writes them, and returns how many bytes it wrote.
    convenience init(_ format: AccessLogFormat, writer: @escaping @Sendable ([UInt8]) -> Int) {
        let file = LineFile(
            queueLimit: AccessLogFile.Options().queueLimit,
            byteLimit: AccessLogFile.byteLimit,
            noteOfDrops: { format.note(ofDropped: $0) },
            writer: writer
        )
        self.init(file, format)
    }

    func append(_ entry: AccessEntry) {
        file.append(format.line(entry, at: clock.now()))
    }
}
