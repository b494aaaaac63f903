// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Foundation

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

// MARK: JSON

// One object on each line. Members that don't apply are left out.

/// The connection is open.
struct OpeningForm: Encodable {
    var event = "open"
    let url: String
    let address: String?
    let tls: String?
    let subprotocol: String?
    let compression: String?
    let milliseconds: Double?

    init(_ snapshot: WebSocketSnapshot, url: String) {
        self.url = url
        address = snapshot.remoteAddress.map { "\($0)" }
        tls = snapshot.timeline.security.map { "\($0.version)" }
        subprotocol = snapshot.subprotocol
        compression = snapshot.compression.map { "\($0)" }
        milliseconds = snapshot.timeline.handshake?.total.milliseconds
    }

    init(_ timeline: ConnectTimeline?, _ connection: TLSInfo?, url: String) {
        self.url = url
        address = timeline?.attempts.first { $0.outcome == .connected }.map { "\($0.address)" }
        tls = connection.map { "\($0.version)" }
        (subprotocol, compression) = (nil, nil)
        milliseconds = timeline?.total.milliseconds
    }
}

/// A message has come, or a line of a stream.
struct MessageForm: Encodable {
    let event: String
    var text: String?
    var base64: String?

    init(_ message: Message) {
        switch message {
        case .text(let text): (event, self.text) = ("text", text)
        case .binary(let bytes): (event, base64) = ("binary", Data(bytes).base64EncodedString())
        }
    }
}

/// The connection is closed: of a WebSocket with what the closing handshake says.
struct ClosingForm: Encodable {
    var event = "close"
    var code: UInt16?
    var reason: String?
    var byServer: Bool?
    var isClean: Bool?

    init() {}

    init(_ report: CloseReport) {
        code = report.code.rawValue
        reason = report.received?.reason
        byServer = report.initiator == .remote
        isClean = report.isClean
    }
}
