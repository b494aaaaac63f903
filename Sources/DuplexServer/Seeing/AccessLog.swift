// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import Logging

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Where an access log goes; see ``RouteOption/accessLog(_:showsQuery:)``.
public struct AccessLogOutput: Sendable {
    enum Target: Sendable {
        case logger(Logger?, Logger.Level)
        case lines(AccessLines)
    }

    let target: Target

    /// A message for each request, with what is to be said as metadata.
    ///
    /// Hazard: it is written as the logger's handler does that. One that waits for a terminal or a disk holds up the
    /// loop, so a busy server has its log in a file.
    ///
    /// - Parameters:
    ///   - logger: where to. Default: ``WebServer/logger``.
    ///   - level: of the messages. Default: `info`.
    /// - Returns: the output.
    public static func logger(_ logger: Logger? = nil, level: Logger.Level = .info) -> AccessLogOutput {
        AccessLogOutput(target: .logger(logger, level))
    }

    /// Lines in a file.
    public static func file(_ file: AccessLogFile) -> AccessLogOutput {
        AccessLogOutput(target: .lines(file.lines))
    }

    /// Lines on standard output, written on a thread of their own.
    ///
    /// At most 10,000 of them wait for whoever reads; others are dropped, and a line says how many.
    public static func standardOutput(_ format: AccessLogFormat = .combined) -> AccessLogOutput {
        AccessLogOutput(target: .lines(AccessLines(descriptor: STDOUT_FILENO, format)))
    }

    /// Lines to a function that writes them, as ``standardOutput(_:)`` has them.
    ///
    /// - Parameters:
    ///   - format: Of the lines.
    ///   - writer: Writes bytes, as long as that takes, and returns how many of them it wrote.
    /// - Returns: the output.
    package static func lines(
        _ format: AccessLogFormat = .combined,
        to writer: @escaping @Sendable ([UInt8]) -> Int
    ) -> AccessLogOutput {
        AccessLogOutput(target: .lines(AccessLines(format, writer: writer)))
    }

    /// Lines on standard error, as ``standardOutput(_:)`` has them.
    public static func standardError(_ format: AccessLogFormat = .combined) -> AccessLogOutput {
        AccessLogOutput(target: .lines(AccessLines(descriptor: STDERR_FILENO, format)))
    }
}

extension RouteOption {
    /// Logs each request once its response has gone: who, what, the status, how many bytes, how long.
    ///
    /// Also requests that no route answers, that couldn't be read, and whose clients have disconnected; a WebSocket
    /// when it opens. The user is `request.user`, the id `request[RequestID.self]`.
    ///
    /// ```swift
    /// server.use(.accessLog(.file(try AccessLogFile(path: "access.log"))))
    /// ```
    ///
    /// - Parameters:
    ///   - output: where to. Default: the server's logger, at `info`.
    ///   - showsQuery: whether the queries of requests are logged, which may hold secrets. Default: true. The field
    ///     `Referer` is logged as it comes, with the query of the page before.
    /// - Returns: the option.
    public static func accessLog(_ output: AccessLogOutput = .logger(), showsQuery: Bool = true) -> RouteOption {
        RouteOption { settings in
            var output = output
            if case .logger(nil, let level) = output.target { output = .logger(settings.logger, level: level) }
            settings.observers.append(AccessLogObserver(output: output, showsQuery: showsQuery))
        }
    }
}

private struct AccessLogObserver: RequestObserver {
    let output: AccessLogOutput
    let showsQuery: Bool

    func ended(_ request: Request, _ outcome: RequestOutcome) {
        let entry = AccessEntry(request: request, outcome: outcome, showsQuery: showsQuery)
        switch output.target {
        case .lines(let lines): lines.append(entry)
        case .logger(let logger, let level):
            logger?.log(level: level, "a request has ended", metadata: entry.metadata)
        }
    }

    func finish() async {
        if case .lines(let lines) = output.target { await lines.file.flush(within: .seconds(2)) }
    }
}

/// How the lines of an access log are written; later versions may add formats.
@nonexhaustive
public enum AccessLogFormat: Sendable, Hashable {
    /// The combined format of Apache and NCSA, which most tools read.
    ///
    /// What clients have sent is visible ASCII in it: other bytes are written `\xhh`, quotes and backslashes with a
    /// backslash in front.
    case combined
    /// An object of JSON in each line.
    ///
    /// Its members are `time`, `address`, `user`, `method`, `host`, `target`, `protocol`, `route`, `status`,
    /// `received_bytes`, `sent_bytes`, `duration_us`, `cut`, `request_id`, `referer` and `user_agent`; those that aren't known
    /// are left out.
    case json

    /// A line with its end.
    func line(_ entry: AccessEntry, at time: LogTime) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(256)
        switch self {
        case .combined: entry.appendCombined(at: time, to: &line)
        case .json: line.append(utf8: entry.json(at: time))
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// Says that lines are missing.
    func note(ofDropped count: Int) -> String {
        switch self {
        case .combined: "# \(count) lines were dropped here."
        case .json: "{\"dropped\":\(count)}"
        }
    }
}
