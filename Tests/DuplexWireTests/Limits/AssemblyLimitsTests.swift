// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite struct AssemblyLimitsTests {
    @Test("What limits say of messages is kept", arguments: [MessageLimits.internet, .local, .unlimited])
    func kept(limits: MessageLimits) {
        var limits = limits
        limits.frameSize = 77
        let kept = AssemblyLimits(limits)
        #expect(kept.messageSize == limits.messageSize)
        #expect(kept.frameSize == 77)
        #expect(kept.fragments == limits.fragments)
    }
}
