// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexSockets
import Testing

@Suite struct EpollPollerTests {
    @Test("A wake-up is reported with its token until it is cleared")
    func readable() throws {
        let poller = try EpollPoller()
        let wakeup = try Wakeup()
        defer {
            poller.close()
            wakeup.close()
        }
        var events: [PollEvent] = []
        try poller.add(wakeup.descriptor, token: 7, interest: .readable)
        poller.wait(.now, into: &events)
        #expect(events.isEmpty)
        wakeup.signal()
        poller.wait(.now, into: &events)
        #expect(events.map(\.token) == [7])
        #expect(events.first?.readiness.contains(.readable) == true)
        poller.modify(wakeup.descriptor, token: 8, interest: .writable)
        poller.wait(.now, into: &events)
        #expect(events.map(\.token) == [8])
        #expect(events.first?.readiness.contains(.writable) == true)
        poller.remove(wakeup.descriptor)
        poller.wait(.now, into: &events)
        #expect(events.isEmpty)
    }

    @Test("A wait until an instant comes back once it has come")
    func instant() throws {
        let poller = try EpollPoller()
        defer { poller.close() }
        let instant = MonotonicInstant.now().advanced(by: .milliseconds(5))
        var events: [PollEvent] = []
        poller.wait(.until(instant), into: &events)
        #expect(MonotonicInstant.now() >= instant)
        #expect(events.isEmpty)
    }
}
#endif
