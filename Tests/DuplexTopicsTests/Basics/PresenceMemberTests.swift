// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTopics
import Testing

@Suite("Members and their changes")
struct PresenceMemberTests {
    @Test("A change says who it is, whatever it is")
    func member() {
        let member = PresenceMember(id: "x", info: "hi")
        #expect(PresenceChange.joined(member).member == member && PresenceChange.left(member).member == member)
        #expect(PresenceMember(id: "x").info.isEmpty)
    }
}
