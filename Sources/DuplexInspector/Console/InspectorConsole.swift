// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import DuplexWire
import Foundation
import Logging
import Synchronization

/// The last lines that a process has written and logged, for any number of viewers of its inspector.
///
/// ```swift
/// let console = InspectorConsole()
/// LoggingSystem.bootstrap { label in
///     InspectorLogHandler(label: label, to: console, and: StreamLogHandler.standardError(label: label))
/// }
/// try console.captureStreams()
/// var options = InspectorOptions()
/// options.console = console
/// server.inspector("/_inspect", options: options)
/// ```
///
/// Several inspectors may show one console. Writers never wait for viewers.
public final class InspectorConsole: Sendable {
    let entries: LiveRing<ConsoleEntry>
    private let capture = Mutex<StreamCapture?>(nil)

    /// Makes a console that has no lines yet, and gets none by itself.
    ///
    /// - Parameters:
    ///   - count: how many lines are kept at most; the first ones go. Default: 10,000.
    ///   - limit: how many bytes they have at most. Default: 8 MiB.
    public init(keeping count: Int = 10_000, limit: ByteCount = .mebibytes(8)) {
        entries = LiveRing(keeping: count, limit)
    }

    /// Takes what the process writes to standard output and standard error until ``endCapture()``, and passes it on to where it
    /// went before.
    ///
    /// Descriptors 1 and 2 lead into pipes then, which a thread reads; programs that the process starts inherit them.
    /// What is written reaches its former place byte for byte, in its order, also at exit(3), at a fault of the
    /// program, and where a signal ends it that the app doesn't handle. Hazards: SIGKILL and _exit(2) lose what was
    /// written in the last moment; code that asks whether its output is a terminal learns that it isn't. Where both
    /// streams are the same file they share a pipe, which keeps their order and not which line was whose. stdio writes
    /// each line at once from here on.
    ///
    /// A line is cut after 16 KiB, bytes that aren't UTF-8 are written as numbers. A line that isn't ended is shown a second
    /// later.
    ///
    /// - Throws: `SocketError` where it is done already, by this console or another one, or the system has no descriptor or
    ///   thread to give.
    public func captureStreams() throws(SocketError) {
        let made = try StreamCapture { [entries] kind, lines in
            let time = Date().timeIntervalSince1970
            for line in lines {
                Self.add(
                    ConsoleEntry(number: 0, time: time, kind: kind, text: line.text, isCut: line.isCut),
                    to: entries
                )
            }
        }
        capture.withLock { $0 = made }
    }

    /// Ends the capture: output goes to its place directly again.
    ///
    /// Waits until what was written before is there, 2 s at most: call it off the event loops. Programs that were started
    /// meanwhile go on writing to the console until they end.
    public func endCapture() {
        capture.withLock { $0.take() }?.end()
    }

    /// Adds a line of the log.
    func add(_ event: LogEvent, label: String, metadata: Logger.Metadata) {
        let details = ConsoleEntry.LogDetails(
            level: event.level,
            label: label,
            metadata: ConsoleMetadata.value(of: metadata),
            source: event.source,
            file: event.file,
            line: Int(clamping: event.line),
            function: event.function
        )
        let text = Self.cut(event.message.description)
        let time = Date().timeIntervalSince1970
        Self.add(
            ConsoleEntry(number: 0, time: time, kind: .log, text: text.text, isCut: text.isCut, log: details),
            to: entries
        )
    }

    private static func add(_ entry: ConsoleEntry, to entries: LiveRing<ConsoleEntry>) {
        entries.append(size: entry.size) { number in
            var entry = entry
            entry.number = number
            // What is shown is kept by people, and sent to others.
            entry.text = InspectorSecret.masked(entry.text)
            if entry.text.contains("token=") {
                entry.text = entry.text.replacing(/([?&]token=)[^\s&"]+/) { "\($0.output.1)••••••" }
            }
            return entry
        }
    }

    /// A message of the log has 64 KiB at most.
    private static let messageLimit = 65_536

    private static func cut(_ text: String) -> (text: String, isCut: Bool) {
        if text.utf8.count <= messageLimit { return (text, false) }
        return (String(decoding: text.utf8.prefix(messageLimit), as: UTF8.self), true)
    }
}
