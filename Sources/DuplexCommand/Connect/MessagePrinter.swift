// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// Prints the messages that arrive: made visible for a terminal, as they are for a pipe.
struct MessagePrinter: Sendable {
    let console: Console
    /// What stands before each message on a terminal.
    let mark: String
    /// Whether a binary message is shown in hexadecimal, all of it, also in a pipe.
    let showsAllBytes: Bool
    /// Whether each message is shown as an object.
    var isJSON = false

    /// How many bytes of a binary message a terminal gets to see.
    private static let shownBytes = 32

    /// Prints a message.
    ///
    /// - Parameters:
    ///   - message: what has come.
    ///   - topic: stands in front of it, with a tab after it. Default: nothing does.
    func show(_ message: Message, of topic: String? = nil) {
        if isJSON {
            // Texts and Base64 can always be encoded.
            try? console.print(json: MessageForm(message))
            return
        }
        let isVisible = console.isOutputTerminal
        let label = topic.map { (isVisible ? $0.visible : $0) + "\t" } ?? ""
        switch (message, isVisible) {
        case (.text(let text), true): console.print(mark + label + text.visible)
        case (.text(let text), false): console.print(Array((label + text).utf8))
        case (.binary(let bytes), true): console.print(mark + label + summary(of: bytes))
        case (.binary(let bytes), false):
            console.print(Array(label.utf8) + (showsAllBytes ? Array(bytes.hexadecimal.utf8) : bytes))
        }
    }

    func summary(of bytes: [UInt8]) -> String {
        let shown = showsAllBytes ? bytes[...] : bytes.prefix(Self.shownBytes)
        let colon = bytes.isEmpty ? "" : ": "
        return "binary, \(ByteCount(bytes.count))\(colon)\(shown.hexadecimal)\(shown.count < bytes.count ? " …" : "")"
    }
}
