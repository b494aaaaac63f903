// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import Synchronization

/// A change on its way to all who watch a topic; framed once for all of them.
final class PresenceNotice: Sendable {
    let topic: String
    let change: PresenceChange
    private let framed = Mutex<PreparedMessage?>(nil)

    init(_ topic: String, _ change: PresenceChange) {
        self.topic = topic
        self.change = change
    }

    /// The frame of a server with the change in JSON: `{"topic":"room/42","joined":{"member":"user-7"}}`.
    var frame: PreparedMessage {
        framed.withLock { framed in
            if let frame = framed { return frame }
            let frame = PreparedMessage(.text(text))
            framed = frame
            return frame
        }
    }

    private var text: String {
        var members = JSONText.Members()
        members.add("topic", topic)
        switch change {
        case .joined(let member): members.add("joined", member.json)
        case .left(let member): members.add("left", member.json)
        }
        return JSONText.object(members.all).text
    }
}
