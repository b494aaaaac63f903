// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
package import Logging

/// Keeps all that is logged, or what is at some level and above.
package final class RecordedLog: Sendable {
    /// A line of the log.
    package struct Entry: Sendable {
        package let level: Logger.Level
        package let message: String
        package let metadata: [String: String]
    }

    private let stored = Bulletin<[Entry]>([])
    private let level: Logger.Level

    package init(from level: Logger.Level = .trace) { self.level = level }

    package var entries: [Entry] { stored.value }

    package var logger: Logger { Logger(label: "tests") { _ in Handler(log: self, logLevel: self.level) } }

    /// Waits for a line with that message, perhaps for the second or a later one.
    package func entry(of message: String, times: Int = 1) async throws -> Entry {
        try await stored.wait { entries in entries.filter { $0.message == message }.dropFirst(times - 1).first }
    }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
            log.stored.change {
                $0.append(Entry(level: event.level, message: "\(event.message)", metadata: metadata))
            }
        }
    }
}
