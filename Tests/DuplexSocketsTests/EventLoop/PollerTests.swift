// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Testing

@testable import DuplexSockets

@Suite struct SystemPollerTests {
    @Test("It is the one that the environment asks for, and the system's best when it asks for none")
    func choice() throws {
        let wanted = ProcessInfo.processInfo.environment[SystemPoller.variable]
        let poller = try SystemPoller.make()
        defer { poller.close() }
        #if os(Linux)
        #expect(poller is EpollPoller == (wanted != "poll"))
        #endif
        #expect(poller is PollPoller == (wanted == "poll"))
    }
}
