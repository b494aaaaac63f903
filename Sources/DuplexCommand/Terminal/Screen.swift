// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Lines on the two standard streams, and the prompt that stays below them.
final class Screen: Sendable {
    let output: StandardStream
    let errors: StandardStream
    private let prompt = Mutex("")

    private static let erasure = "\r\u{1b}[K"

    init(output: StandardStream, errors: StandardStream) {
        self.output = output
        self.errors = errors
    }

    /// Keeps a prompt below what is shown; empty for none.
    func setPrompt(_ text: String) {
        prompt.withLock { prompt in
            let old = prompt
            prompt = text
            if text.isEmpty {
                if !old.isEmpty { write(Self.erasure, to: output) }
            } else {
                write(text, to: output)
            }
        }
    }

    /// Shows the prompt again.
    func repeatPrompt() {
        prompt.withLock { write($0, to: output) }
    }

    /// Shows a line that the next one overwrites, on standard error.
    func showProgress(_ line: String) {
        prompt.withLock { _ in write(Self.erasure + line, to: errors) }
    }

    /// Shows a line, which takes the place of the prompt; that comes back below it.
    ///
    /// The terminal keeps what has been typed so far and doesn't tell it, so it isn't shown again; it isn't lost either.
    ///
    /// - Returns: Whether it was written.
    @discardableResult
    func show(_ line: [UInt8], on stream: StandardStream) -> Bool {
        // Without a prompt the streams have nothing in common: one that nobody reads doesn't hold up the other.
        if prompt.withLock(\.isEmpty) { return stream.write(line + [UInt8(ascii: "\n")]) }
        return prompt.withLock { prompt in
            if stream === output {
                return stream.write(Array(Self.erasure.utf8) + line + Array(("\n" + prompt).utf8))
            }
            write(Self.erasure, to: output)
            defer { write(prompt, to: output) }
            return stream.write(line + [UInt8(ascii: "\n")])
        }
    }

    private func write(_ text: String, to stream: StandardStream) {
        stream.write(Array(text.utf8))
    }
}
