// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite struct MessageLimitsTests {
    @Test("What a connection keeps is what the limits say")
    func values() {
        var limits = Limits.internet
        limits.messageSize = ByteCount(300)
        limits.frameSize = ByteCount(200)
        limits.fragments = 7
        let kept = MessageLimits(limits)
        #expect(kept.messageSize == ByteCount(300))
        #expect(kept.frameSize == ByteCount(200))
        #expect(kept.fragments == 7)
    }
}
