// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct WakeupTests {
    @Test(
        "A wake-up ends a wait that has no limit, and any number of them is cleared at once",
        arguments: [false, true]
    )
    func signal(isPipe: Bool) throws {
        let poller = PollPoller()
        let wakeup = try Wakeup(isPipe: isPipe)
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

    @Test("More signals than a pipe has room for block nobody, and none of them is lost")
    func full() throws {
        let poller = PollPoller()
        let wakeup = try Wakeup(isPipe: true)
        defer {
            poller.close()
            wakeup.close()
        }
        var events: [PollEvent] = []
        try poller.add(wakeup.descriptor, token: 3, interest: .readable)
        for _ in 0..<100_000 { wakeup.signal() }
        var rounds = 0
        repeat {
            wakeup.clear()
            rounds += 1
            poller.wait(.now, into: &events)
        } while !events.isEmpty
        #expect(rounds > 1)
        wakeup.signal()
        poller.wait(.never, into: &events)
        #expect(events.map(\.token) == [3])
    }
}
