// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Limits")
struct LimitsTests {
    @Test("The default bounds what a stranger can make this side hold")
    func internet() {
        let limits = Limits.internet
        #expect(limits.messageSize == .mebibytes(1))
        #expect(limits.frameSize == .mebibytes(1))
        #expect(limits.fragments == 4_096)
        #expect(limits.inboxMessages == 16)
        #expect(limits.inboxBytes == .mebibytes(1))
        #expect(limits.headSize == .kibibytes(16))
        #expect(limits.headFields == 100)
        #expect(limits.headTime == .seconds(10))
        #expect(limits.bodySize == .mebibytes(1))
        #expect(limits.bodyRate == 512)
    }

    @Test("Every preset bounds heads, slowness and the inbox", arguments: [Limits.internet, .local, .unlimited])
    func alwaysBounded(limits: Limits) {
        #expect(limits.headSize <= .kibibytes(64))
        #expect(limits.headFields <= 200)
        #expect(limits.headTime <= .seconds(30))
        #expect(limits.messageTime.map { $0 <= .seconds(300) } == true)
        #expect(limits.bodyRate >= 512)
        #expect(limits.inboxBytes <= .mebibytes(16))
        #expect(limits.inboxMessages <= 64)
    }

    @Test("Changing one limit keeps the others, but for the frame size, which goes with the message size")
    func changing() {
        var expected = Limits.internet
        expected.messageSize = .mebibytes(8)
        expected.frameSize = .mebibytes(8)
        #expect(Limits.internet.with(messageSize: .mebibytes(8)) == expected)
        expected = .internet
        expected.fragments = 7
        #expect(Limits.internet.with(fragments: 7) == expected)
        expected = .internet
        expected.messageTime = nil
        #expect(Limits.internet.with(messageTime: nil) == expected)
        expected = .internet
        expected.headTime = .seconds(3)
        #expect(Limits.internet.with(headTime: .seconds(3)) == expected)
    }
}
