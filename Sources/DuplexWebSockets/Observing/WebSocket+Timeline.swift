// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

extension WebSocket {
    /// What has happened to the connection so far, and when.
    public var timeline: WebSocketTimeline {
        let handshake = record?.observation.handshake
        let opened = session.began
        let counts = session.counts
        return WebSocketTimeline(
            handshake: handshake,
            attempt: record?.observation.attempt ?? 1,
            remoteAddress: remoteAddress,
            began: handshake?.began ?? (record?.tls?.began)
                ?? opened.advanced(by: .zero - sinceAccepted.duration),
            security: record?.security,
            tls: handshake.map { $0.connecting?.tls } ?? record?.tls?.took,
            upgrade: handshake.map(\.upgrade) ?? upgradeTime.duration,
            opened: opened,
            firstMessage: session.firstMessage,
            closed: record?.closed,
            bytesReceived: counts.bytesReceived,
            bytesSent: counts.bytesSent
        )
    }
}
