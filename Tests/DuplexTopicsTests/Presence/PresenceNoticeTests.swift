// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Changes of presence in JSON")
struct PresenceNoticeTests {
    @Test("They name the topic, who it is, and what they say")
    func texts() {
        let joined = PresenceNotice("room/1", .joined(PresenceMember(id: "ann", info: #"{"a":1}"#)))
        #expect(joined.frame.message == #"{"topic":"room/1","joined":{"member":"ann","info":{"a":1}}}"#)
        let left = PresenceNotice("room/1", .left(PresenceMember(id: "ann")))
        #expect(left.frame.message == #"{"topic":"room/1","left":{"member":"ann"}}"#)
    }
}
