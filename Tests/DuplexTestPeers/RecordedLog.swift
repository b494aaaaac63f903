// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import Logging
import Synchronization

/// Keeps all that is logged, or what is at some level and above.
package final class RecordedLog: Sendable {
    /// A line of the log.
    package struct Entry: Sendable {
        package let level: Logger.Level
        package let message: String
        package let metadata: [String: String]
    }

    private let stored = Mutex<[Entry]>([])
    private let level: Logger.Level

    package init(from level: Logger.Level = .trace) { self.level = level }

    package var entries: [Entry] { stored.withLock { $0 } }

    package var logger: Logger { Logger(label: "tests") { _ in Handler(log: self, logLevel: self.level) } }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = (event.metadata ?? [:]).mapValues { "\($0)" }
            log.stored.withLock {
                $0.append(Entry(level: event.level, message: "\(event.message)", metadata: metadata))
            }
        }
    }
}
