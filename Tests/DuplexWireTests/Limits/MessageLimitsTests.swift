// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite struct MessageLimitsTests {
    @Test("The default bounds what a stranger's messages can make this side hold")
    func internet() {
        let limits = MessageLimits.internet
        #expect(limits.messageSize == .mebibytes(1))
        #expect(limits.frameSize == .mebibytes(1))
        #expect(limits.fragments == 4_096)
        #expect(limits.minimumRate == 512)
        #expect(limits.inboxMessages == 16)
        #expect(limits.inboxBytes == .mebibytes(1))
    }

    @Test("Every preset bounds slowness and the inbox", arguments: [MessageLimits.internet, .local, .unlimited])
    func alwaysBounded(limits: MessageLimits) {
        #expect(limits.messageTime.map { $0 <= .seconds(300) } == true)
        #expect(limits.minimumRate >= 512)
        #expect(limits.inboxBytes <= .mebibytes(16))
        #expect(limits.inboxMessages <= 64)
    }

    @Test("Changing one limit keeps the others, but for the frame size, which goes with the message size")
    func changing() {
        var expected = MessageLimits.internet
        expected.messageSize = .mebibytes(8)
        expected.frameSize = .mebibytes(8)
        #expect(MessageLimits.internet.with(messageSize: .mebibytes(8)) == expected)
        expected = .internet
        expected.fragments = 7
        #expect(MessageLimits.internet.with(fragments: 7) == expected)
        expected = .internet
        expected.messageTime = nil
        #expect(MessageLimits.internet.with(messageTime: nil) == expected)
    }
}
