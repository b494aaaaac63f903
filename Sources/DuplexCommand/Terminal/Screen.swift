// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

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
