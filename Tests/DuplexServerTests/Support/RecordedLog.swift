// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Logging
import Synchronization

/// Keeps what is logged at notice and above.
final class RecordedLog: Sendable {
    private let lines = Mutex<[String]>([])

    var entries: [String] { lines.withLock { $0 } }

    var logger: Logger { Logger(label: "tests") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = (event.metadata ?? [:]).map { "\($0.key): \($0.value)" }.sorted()
            log.lines.withLock { $0.append((["\(event.level): \(event.message)"] + fields).joined(separator: ", ")) }
        }
    }
}
