// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTopics
import DuplexWire
import Testing

@Suite struct BackplaneTests {
    @Test("A change says who it is about")
    func member() {
        let member = PresenceMember(id: "a", info: "{}")
        #expect(PresenceChange.joined(member).member == member && PresenceChange.left(member).member == member)
    }

    @Test("Messages and histories are equal when all of them is")
    func values() {
        let message = BackplaneMessage(topic: "a", message: .text("b"), origin: "o", number: 1)
        var other = message
        other.number = 2
        let position = TopicPosition(epoch: "e", offset: 1)
        #expect(message != other && message.position == nil)
        #expect(
            BackplaneHistory(position: position, messages: [message])
                != BackplaneHistory(position: position, messages: [other])
        )
    }
}
