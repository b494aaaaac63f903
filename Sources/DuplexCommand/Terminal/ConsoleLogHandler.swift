// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexInspector
import Logging

/// Writes log lines to standard error, with what a peer may have put into them made visible.
struct ConsoleLogHandler: LogHandler {
    var logLevel = Logger.Level.notice
    var metadata = Logger.Metadata()

    /// Makes every logger of the process write here; called once, before the first of them is made.
    ///
    /// - Parameters:
    ///   - level: the lowest level that is written.
    ///   - console: shows the lines as well. Default: there is none.
    static func install(level: Logger.Level, beside console: InspectorConsole? = nil) {
        LoggingSystem.bootstrap { label in
            let handler = ConsoleLogHandler(logLevel: level)
            guard let console else { return handler }
            return InspectorLogHandler(label: label, to: console, and: handler)
        }
    }

    func log(event: LogEvent) {
        Console.shared.complain(
            Self.line(event.level, "\(event.message)", metadata.merging(event.metadata ?? [:]) { $1 })
        )
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// A line such as `warning: a handler failed error="…"`.
    static func line(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) -> String {
        let pairs = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\"\($0.value)\"" }
        return "\(level): \(message)\(pairs.joined())".visible
    }
}
