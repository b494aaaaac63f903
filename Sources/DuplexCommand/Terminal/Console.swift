// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
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
final class Console: Sendable {
    /// The one that the process has.
    static let shared = Console(output: STDOUT_FILENO, errors: STDERR_FILENO)

    /// How many lines wait for somebody to read standard error.
    static let lineLimit = 1_024
    private static let byteLimit = 256 * 1_024

    private let screen: Screen
    private let complaints: LineQueue
    /// Whether the two streams go to one place: then the order of their lines is kept.
    private let isOnePlace: Bool

    init(output: Int32, errors: Int32) {
        let screen = Screen(output: StandardStream(output), errors: StandardStream(errors))
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
    func print(_ bytes: [UInt8]) {
        settle()
        screen.show(bytes, on: screen.output)
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
