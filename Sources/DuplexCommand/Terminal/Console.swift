// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The command's standard output and standard error: written at once, whole lines, from any task.
final class Console: Sendable {
    /// The one that the process has.
    static let shared = Console(output: STDOUT_FILENO, errors: STDERR_FILENO)

    /// Whether standard output is a terminal: only then is what the peer sends made visible.
    let isOutputTerminal: Bool
    /// Whether standard error is a terminal.
    let isErrorTerminal: Bool
    private let output: Int32
    private let errors: Int32
    private let prompt = Mutex("")

    init(output: Int32, errors: Int32) {
        self.output = output
        self.errors = errors
        isOutputTerminal = isatty(output) == 1
        isErrorTerminal = isatty(errors) == 1
    }

    /// Keeps a prompt below what is printed, on standard output; empty for none.
    func setPrompt(_ text: String) {
        prompt.withLock { prompt in
            let old = prompt
            prompt = text
            if text.isEmpty {
                if !old.isEmpty { write("\r\u{1b}[K", to: output) }
            } else {
                write(text, to: output)
            }
        }
    }

    /// The person has typed a line and the terminal has shown it: a new prompt is due.
    func lineWasTyped() {
        prompt.withLock { write($0, to: output) }
    }

    /// Prints a line on standard output as it is: the caller has made it fit for a terminal.
    func print(_ line: String) {
        show(line, on: output)
    }

    /// Prints bytes and a line end on standard output.
    func print(_ bytes: [UInt8]) {
        prompt.withLock { _ in write(bytes + [UInt8(ascii: "\n")], to: output) }
    }

    /// Prints a line on standard error, in which the caller has made visible what comes from a peer.
    func complain(_ line: String) {
        show(line, on: errors)
    }

    /// Shows a line on standard error that the next one overwrites; an empty one only erases.
    func showProgress(_ line: String) {
        guard isErrorTerminal else { return }
        prompt.withLock { _ in write("\r\u{1b}[K" + line, to: errors) }
    }

    /// The line takes the place of the prompt, which comes back below it.
    ///
    /// The terminal keeps what has been typed so far and doesn't tell it, so it isn't shown again; it isn't lost either.
    private func show(_ line: String, on descriptor: Int32) {
        prompt.withLock { prompt in
            if prompt.isEmpty {
                write(line + "\n", to: descriptor)
            } else if descriptor == output {
                write("\r\u{1b}[K" + line + "\n" + prompt, to: output)
            } else {
                write("\r\u{1b}[K", to: output)
                write(line + "\n", to: descriptor)
                write(prompt, to: output)
            }
        }
    }

    private func write(_ text: String, to descriptor: Int32) {
        write(Array(text.utf8), to: descriptor)
    }

    /// Writes all of it; gives up silently when nobody can read it any more.
    private func write(_ bytes: [UInt8], to descriptor: Int32) {
        var position = 0
        while position < bytes.count {
            let count = unsafe bytes[position...].withUnsafeBytes { buffer in
                unsafe systemWrite(descriptor, buffer.baseAddress, buffer.count)
            }
            if count > 0 {
                position += count
            } else if count < 0 && errno == EAGAIN {
                waitUntilWritable(descriptor)
            } else if count == 0 || errno != EINTR {
                return
            }
        }
    }

    /// Another process that has the same terminal may have made it non-blocking.
    private func waitUntilWritable(_ descriptor: Int32) {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&request, 1, -1)
    }
}

/// `write(2)`, whose name the methods above hide.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(descriptor, bytes, count)
}
