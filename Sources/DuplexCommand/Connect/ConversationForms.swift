// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Foundation

// What `duplex connect --json` prints, one object on each line. Members that don't apply are left out.

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

    init(_ timeline: ConnectTimeline?, _ connection: TLSConnection?, url: String) {
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
