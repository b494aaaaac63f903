// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("When to ping")
struct KeepaliveTests {
    @Test("Interval and timeout are at least a millisecond", arguments: [Duration.zero, .seconds(-5), .nanoseconds(1)])
    func bounds(duration: Duration) {
        let keepalive = Keepalive.every(duration, timeout: duration)
        #expect(keepalive.interval == .milliseconds(1))
        #expect(keepalive.timeout == .milliseconds(1))
    }

    @Test("What is asked for is kept")
    func values() {
        let keepalive = Keepalive.every(.seconds(20), timeout: .seconds(7))
        #expect(keepalive.interval == .seconds(20))
        #expect(keepalive.timeout == .seconds(7))
        #expect(Keepalive.disabled.interval == nil)
    }
}
