// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexInspector
import DuplexSockets
import Logging
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The command's standard output and standard error: whole lines, from any task.
///
/// What is printed on standard output is the command's work, and whoever prints waits until it is read. Standard error
/// is written by a thread of its own, so that no caller waits, least of all an event loop. A bounded number of lines
/// waits there; the others are dropped, and their number is printed.
///
/// All that the command prints goes through here, the texts of the argument parser and the access log too, so that this
/// is the only place that deals with output that can't be written: the first write to standard output that fails ends
/// the command's work in order, and ``loss`` is the failure that the command ends with.
final class Console: Sendable {
    /// The one that the process has.
    static let shared = Console(output: STDOUT_FILENO, errors: STDERR_FILENO) {
        // In a task of its own: this is called while lines are being written, and ending the work may print others.
        Task { Interruption.shared.outputWasLost() }
    }

    /// How many lines wait for somebody to read standard error.
    static let lineLimit = 1_024
    private static let byteLimit = 256 * 1_024

    private let screen: Screen
    private let complaints: LineQueue
    /// Whether the two streams go to one place: then the order of their lines is kept.
    private let isOnePlace: Bool

    /// Makes the console of two descriptors.
    ///
    /// - Parameters:
    ///   - output: Where results go.
    ///   - errors: Where everything else goes. One that is closed was closed in order not to read it: no failure.
    ///   - whenOutputIsLost: Called once, after the first write to `output` that failed. Default: nothing is called.
    init(output: Int32, errors: Int32, whenOutputIsLost: @escaping @Sendable () -> Void = {}) {
        let screen = Screen(
            output: StandardStream(output, whenLost: whenOutputIsLost),
            errors: StandardStream(errors, tolerating: [EBADF])
        )
        self.screen = screen
        isOnePlace = screen.output.isSame(as: screen.errors)
        complaints = LineQueue(
            name: "duplex-stderr",
            lineLimit: Self.lineLimit,
            byteLimit: Self.byteLimit,
            noteOfDrops: { count in
                Array("duplex: \(count.grouped) lines were dropped here, as nobody read them in time.".utf8)
            },
            writer: { $0.write { screen.show($0, on: screen.errors) } }
        )
    }

    /// Whether standard output is a terminal: only then is what the peer sends made visible.
    var isOutputTerminal: Bool { screen.output.isTerminal }

    /// Whether standard error is a terminal.
    var isErrorTerminal: Bool { screen.errors.isTerminal }

    /// Keeps a prompt below what is printed, on standard output; empty for none.
    func setPrompt(_ text: String) {
        settle()
        screen.setPrompt(text)
    }

    /// The person has typed a line and the terminal has shown it: a new prompt is due.
    func lineWasTyped() {
        settle()
        screen.repeatPrompt()
    }

    /// Prints a line on standard output as it is: the caller has made it fit for a terminal.
    func print(_ line: String) {
        print(Array(line.utf8))
    }

    /// Prints bytes and a line end on standard output.
    ///
    /// After a write that failed no other is tried: a result with a hole in it would be taken for whole.
    func print(_ bytes: [UInt8]) {
        if screen.output.lossError != nil { return }
        settle()
        screen.show(bytes, on: screen.output)
    }

    /// Writes lines that have their ends on standard output, as they are.
    ///
    /// - Returns: Whether they were written.
    func write(_ lines: [UInt8]) -> Bool {
        screen.output.lossError == nil && screen.output.write(lines)
    }

    /// From now on the command goes on if one of the streams is closed or its reader is gone, and lines that nobody has read when
    /// it ends are no failure.
    ///
    /// For servers, whose lines only announce them: daemons are started with closed descriptors, and a script may read
    /// the address and then close its pipe.
    func makeReadersOptional() {
        screen.output.tolerate([EBADF, EPIPE, ETIMEDOUT])
        screen.errors.tolerate([EBADF, EPIPE, ETIMEDOUT])
    }

    /// The failure that the command ends with because a result couldn't be written.
    var loss: Failure? { screen.output.lossError.map { Self.failure("Standard output", $0) } }

    /// Whether a complaint couldn't be written.
    var hasLostComplaint: Bool { screen.errors.lossError != nil }

    private static func failure(_ stream: String, _ error: Int32) -> Failure {
        switch error {
        case EPIPE: Failure(.brokenPipe, "")
        case EBADF: Failure(.failure, "\(stream) isn't open for writing.")
        case ETIMEDOUT: Failure(.failure, "\(stream) wasn't read in time.")
        default: Failure(.failure, "\(stream) can't be written: \(SocketError.text(of: error)).")
        }
    }

    /// Has a line written to standard error, without waiting; the caller has made visible what comes from a peer.
    func complain(_ line: String) {
        complaints.append(Array(line.utf8))
    }

    /// Shows a line on standard error that the next one overwrites; an empty one only erases.
    func showProgress(_ line: String) {
        guard isErrorTerminal else { return }
        settle()
        screen.showProgress(line)
    }

    /// From now on nothing waits longer than a second for somebody to read: the process is about to end.
    func hurry() {
        screen.output.hurry()
        screen.errors.hurry()
    }

    /// Waits until all complaints are written, for a second at most.
    func flush() async {
        await complaints.flush(within: .seconds(1))
    }

    /// Earlier lines of standard error come before what is printed next, where both are visible.
    private func settle() {
        if isOnePlace { complaints.writeOut() }
    }
}

/// Lines on the two standard streams, and the prompt that stays below them.
final class Screen: Sendable {
    let output: StandardStream
    let errors: StandardStream
    private let state = Mutex(State())

    /// What stands below the lines.
    private struct State {
        var prompt = ""
        /// Whether a line is shown that the next one overwrites.
        var hasProgress = false
    }

    private static let erasure = "\r\u{1b}[K"

    init(output: StandardStream, errors: StandardStream) {
        self.output = output
        self.errors = errors
    }

    /// Keeps a prompt below what is shown; empty for none.
    func setPrompt(_ text: String) {
        state.withLock { state in
            let old = state.prompt
            state.prompt = text
            if text.isEmpty {
                if !old.isEmpty { write(Self.erasure, to: output) }
            } else {
                write(text, to: output)
            }
        }
    }

    /// Shows the prompt again.
    func repeatPrompt() {
        state.withLock { write($0.prompt, to: output) }
    }

    /// Shows a line that the next one overwrites, on standard error.
    func showProgress(_ line: String) {
        state.withLock { state in
            state.hasProgress = !line.isEmpty
            write(Self.erasure + line, to: errors)
        }
    }

    /// Shows a line, which takes the place of the prompt; that comes back below it.
    ///
    /// The terminal keeps what has been typed so far and doesn't show it to the program, so it isn't printed again; it
    /// isn't lost either.
    ///
    /// - Returns: Whether it was written.
    @discardableResult
    func show(_ line: [UInt8], on stream: StandardStream) -> Bool {
        let isAlone = state.withLock { state in
            if state.hasProgress { write(Self.erasure, to: errors) }
            state.hasProgress = false
            return state.prompt.isEmpty
        }
        // Without a prompt the streams have nothing in common: one that nobody reads doesn't hold up the other.
        if isAlone { return stream.write(line + [UInt8(ascii: "\n")]) }
        return state.withLock { state in
            if stream === output {
                return stream.write(Array(Self.erasure.utf8) + line + Array(("\n" + state.prompt).utf8))
            }
            write(Self.erasure, to: output)
            defer { write(state.prompt, to: output) }
            return stream.write(line + [UInt8(ascii: "\n")])
        }
    }

    private func write(_ text: String, to stream: StandardStream) {
        stream.write(Array(text.utf8))
    }
}

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
