// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import CoreMetrics
public import DuplexSockets
import DuplexWire
public import Logging
import Synchronization

/// Gets the timeline of each connection at its end, and of each attempt that failed.
///
/// ```swift
/// options.timelines = [.log(logger), try .file(path: "connections.jsonl")]
/// ```
public struct TimelineSink: Sendable {
    private let body: @Sendable (TimelineReport) -> Void
    private var file: TimelineFile?

    /// One that calls a closure.
    ///
    /// - Parameter body: called on the connection's loop, or by the task whose attempt failed; it must not block.
    public init(_ body: @escaping @Sendable (TimelineReport) -> Void) {
        self.body = body
    }

    func take(_ report: TimelineReport) {
        body(report)
    }

    /// Writes a line of JSON to a file, for each connection that has ended and for each attempt that failed.
    ///
    /// The file is written on a thread of its own: no connection waits for the disk. Lines that find 1,000 others waiting, and
    /// those that the disk doesn't take, are dropped. Only the owner can read the file. Names of members that end in `_us` are
    /// microseconds: `_took_us` is the length of a stage, all others are since the beginning of the attempt or of a server's
    /// connection (`start_us`, `end_us`, `opened_us`, `first_message_us`, `closed_us`, `failed_us`). `time` is the date and time
    /// of the end, in UTC; `url` has no credentials and no query; `reason` is the close frame's.
    ///
    /// Hazard: errors may have a server's response, and addresses identify people.
    ///
    /// - Parameters:
    ///   - path: the path of the file, which is appended to, or made.
    ///   - sizeLimit: the longest file; a new one begins then, and the one before has `.1` after its path, and so on. Default:
    ///     10 MiB.
    ///   - fileLimit: the number of files that are kept, with the current one. Default: 5.
    /// - Returns: the sink; see ``flush()``.
    /// - Throws: `SocketError` with `system` if the file can't be opened.
    public static func file(
        path: String,
        sizeLimit: ByteCount = .mebibytes(10),
        fileLimit: Int = 5
    ) throws(SocketError) -> TimelineSink {
        file(try TimelineFile(path: path, sizeLimit: sizeLimit, fileLimit: fileLimit))
    }

    static func file(_ file: TimelineFile) -> TimelineSink {
        var sink = TimelineSink { file.append($0) }
        sink.file = file
        return sink
    }

    /// Waits until all earlier timelines are in the file, or were dropped; for the end of a program.
    ///
    /// Returns at once for a sink that has no file.
    public func flush() async {
        await file?.flush()
    }

    /// Logs a message.
    ///
    /// - Parameters:
    ///   - logger: where to.
    ///   - level: of the message. Default: `info`.
    /// - Returns: the sink.
    public static func log(_ logger: Logger, level: Logger.Level = .info) -> TimelineSink {
        TimelineSink { report in
            var metadata: Logger.Metadata = ["role": "\(report.role)", "attempt": "\(report.attempt)"]
            if let connection = report.connection { metadata["connection"] = "\(connection)" }
            if let url = report.url { metadata["url"] = "\(url)" }
            if let reason = report.closeReason { metadata["reason"] = "\(reason)" }
            if let timeline = report.timeline {
                metadata["timeline"] = "\(timeline)"
            } else if let handshake = report.handshake {
                metadata["timeline"] = "\(handshake)"
                metadata["stage"] = "\(handshake.stage.rawValue)"
            }
            if let end = report.closeReport { metadata["report"] = "\(end)" }
            if let error = report.error { metadata["error"] = "\(error)" }
            let what = report.timeline == nil ? "an attempt has failed" : "the timeline of a connection"
            logger.log(level: level, "\(what)", metadata: metadata)
        }
    }

    /// Records how long each stage took.
    ///
    /// The timer `_stage` has the dimensions `role` and `stage`, which is `names`, `connecting`, `proxy`, `roots`, `tls`,
    /// `upgrade`, `opening` (all of them together) or `first_message`; the counter `_attempts_failed` has the stage at which attempts
    /// failed, `none` where nothing was begun.
    ///
    /// - Parameters:
    ///   - factory: makes the metrics. Default: the one that the system was bootstrapped with.
    ///   - prefix: what labels begin with. Default: `websocket`.
    ///   - dimensions: of every instrument besides its own.
    /// - Returns: the sink.
    public static func metrics(
        _ factory: any MetricsFactory = MetricsSystem.factory,
        prefix: String = "websocket",
        dimensions: [(String, String)] = []
    ) -> TimelineSink {
        let instruments = StageInstruments(factory, prefix, dimensions)
        return TimelineSink { instruments.take($0) }
    }
}

/// The instruments of a sink, each made when it is first needed.
private final class StageInstruments: Sendable {
    private struct State {
        var timers: [String: Timer] = [:]
        var failures: [String: Counter] = [:]
    }

    private let factory: any MetricsFactory
    private let prefix: String
    private let dimensions: [(String, String)]
    private let state = Mutex(State())

    init(_ factory: any MetricsFactory, _ prefix: String, _ dimensions: [(String, String)]) {
        self.factory = factory
        self.prefix = prefix
        self.dimensions = dimensions
    }

    func take(_ report: TimelineReport) {
        let role = report.role == .client ? "client" : "server"
        for (stage, took) in report.stages { timer(role, stage).recordNanoseconds(took.wholeNanoseconds) }
        if report.timeline == nil { failures(report.handshake?.stage.rawValue ?? "none").increment() }
    }

    private func timer(_ role: String, _ stage: String) -> Timer {
        state.withLock { state in
            let key = role + " " + stage
            let timer =
                state.timers[key]
                ?? Timer(
                    label: "\(prefix)_stage",
                    dimensions: dimensions + [("role", role), ("stage", stage)],
                    factory: factory
                )
            state.timers[key] = timer
            return timer
        }
    }

    private func failures(_ stage: String) -> Counter {
        state.withLock { state in
            let counter =
                state.failures[stage]
                ?? Counter(
                    label: "\(prefix)_attempts_failed",
                    dimensions: dimensions + [("role", "client"), ("stage", stage)],
                    factory: factory
                )
            state.failures[stage] = counter
            return counter
        }
    }
}
