// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTopics
import DuplexWebSockets
import DuplexWire

/// Publishes every message to all connections, the one that it came from among them.
///
/// Of what is sent to a connection that doesn't take it, the oldest is dropped.
struct BroadcastHandler: WebSocketHandler {
    private let topic = Topics()["broadcast"]

    func opened(_ socket: isolated WebSocket) {
        _ = try? socket.subscribe(to: topic, slow: .dropOldest(keeping: 100))
    }

    func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
        topic.publish(bytes, kind)
    }
}
