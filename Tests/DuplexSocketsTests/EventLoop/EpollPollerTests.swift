// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexSockets
import Testing

@Suite struct EpollPollerTests {
    @Test("It does what every poller must")
    func contract() throws {
        let poller = try EpollPoller()
        defer { poller.close() }
        try PollerContract.check(poller)
    }
}
#endif
