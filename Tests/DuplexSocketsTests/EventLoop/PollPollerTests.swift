// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct PollPollerTests {
    @Test("It does what every poller must")
    func contract() throws {
        let poller = PollPoller()
        defer { poller.close() }
        try PollerContract.check(poller)
    }
}
