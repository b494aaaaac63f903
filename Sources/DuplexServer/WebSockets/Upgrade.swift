// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire

/// A connection whose handshake has been answered with 101, on its way to become a WebSocket.
struct Upgrade {
    let channel: Channel
    let request: Request
    let endpoint: WebSocketEndpoint
    let route: WebSocketRoute
    let acceptance: ServerHandshake.Acceptance
    /// What came behind the request.
    let leftover: [UInt8]
    let accepted: Instant
    let asked: Instant?
    let span: HandshakeSpan?
}

typealias Acceptance = ServerHandshake.Acceptance
