// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexSockets
import Testing

@Suite struct WakeupTests {
    @Test("A wake-up ends a wait that has no limit, and any number of them is cleared at once")
    func signal() throws {
        let poller = try EpollPoller()
        let wakeup = try Wakeup()
        defer {
            poller.close()
            wakeup.close()
        }
        var events: [PollEvent] = []
        try poller.add(wakeup.descriptor, token: 3, interest: .readable)
        wakeup.signal()
        wakeup.signal()
        poller.wait(.never, into: &events)
        #expect(events.map(\.token) == [3])
        wakeup.clear()
        poller.wait(.now, into: &events)
        #expect(events.isEmpty)
    }
}
#endif
