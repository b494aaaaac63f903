// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexWebSockets

@Suite("What is known of an attempt so far")
struct HandshakeProgressTests {
    @Test("Its timeline has what was reached, and the time up to now")
    func timeline() {
        let progress = HandshakeProgress(began: .now(), requests: 3)
        let early = progress.timeline(.names)
        #expect(early.stage == .names && early.requests == 3 && early.connecting == nil && early.security == nil)
        let connecting = ConnectTimeline(names: .milliseconds(1), attempts: [], total: .milliseconds(2))
        let later = progress.connected(connecting, nil).timeline(.upgrade, upgrade: .milliseconds(5))
        #expect(later.connecting == connecting && later.upgrade == .milliseconds(5) && later.began == early.began)
        #expect(later.total >= early.total && early.total >= .zero)
    }
}
