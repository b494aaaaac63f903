// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Who comes and goes, between machines")
struct PresenceFrameTests {
    @Test("What is written is read again, and what ends within the id is refused")
    func comesBack() throws {
        for frame in [
            PresenceFrame(.joined, id: "änn", info: "{}"), PresenceFrame(.left, id: "", info: ""),
            PresenceFrame(.joined, id: String(repeating: "x", count: 70_000), info: "y"),
        ] {
            let bytes = frame.encoded
            #expect(try PresenceFrame(bytes) == frame)
            for count in 0..<min(6 + frame.id.utf8.count, 40) {
                #expect(throws: TopicFrame.Fault.truncated) { try PresenceFrame(Array(bytes.prefix(count))) }
            }
        }
    }

    @Test("Its bytes are as they are described; others are refused")
    func refuses() {
        #expect(PresenceFrame(.left, id: "a", info: "b").encoded == [1, 1, 0, 0, 0, 1, 0x61, 0x62])
        #expect(throws: TopicFrame.Fault.unknown) { try PresenceFrame([2, 0, 0, 0, 0, 0]) }
        #expect(throws: TopicFrame.Fault.unknown) { try PresenceFrame([1, 2, 0, 0, 0, 0]) }
        #expect(throws: TopicFrame.Fault.truncated) { try PresenceFrame([1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0]) }
        #expect(throws: TopicFrame.Fault.notText) { try PresenceFrame([1, 0, 0, 0, 0, 1, 0xFF]) }
    }
}
