// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

/// What every poller must do.
enum PollerContract {
    static func check(_ poller: any Poller) throws {
        try reportsWhatIsWatched(poller)
        try keepsDescriptorsApart(poller)
        try reportsFailure(poller)
        comesBackInTime(poller)
    }

    private static func events(of poller: any Poller) -> [PollEvent] {
        var events: [PollEvent] = []
        poller.wait(.now, into: &events)
        return events.sorted { $0.token < $1.token }
    }

    /// With its token, as long as it is ready, and no longer than it is watched.
    private static func reportsWhatIsWatched(_ poller: any Poller) throws {
        let (near, far) = try Descriptors.pair()
        defer { for descriptor in [near, far] { SystemCalls.close(descriptor) } }
        try poller.add(near, token: 7, interest: .readable)
        #expect(events(of: poller).isEmpty)
        #expect(Descriptors.send(far, [1]) == .transferred(1))
        #expect(Descriptors.isReady(near))
        for _ in 0..<2 {
            #expect(events(of: poller).map(\.token) == [7])
            #expect(events(of: poller).first?.readiness == .readable)
        }
        #expect(Descriptors.read(near) == [1])
        #expect(events(of: poller).isEmpty)
        poller.modify(near, token: 8, interest: .writable)
        #expect(events(of: poller).map(\.token) == [8])
        #expect(events(of: poller).first?.readiness == .writable)
        poller.modify(near, token: 9, interest: [])
        #expect(events(of: poller).isEmpty)
        poller.remove(near)
        #expect(events(of: poller).isEmpty)
    }

    /// Whichever of several is no longer watched, the others are.
    private static func keepsDescriptorsApart(_ poller: any Poller) throws {
        for gone in 0..<4 {
            let wakeups = try (0..<4).map { _ in try Wakeup() }
            defer { for wakeup in wakeups { wakeup.close() } }
            for (index, wakeup) in wakeups.enumerated() {
                try poller.add(wakeup.descriptor, token: UInt64(index), interest: .readable)
                wakeup.signal()
            }
            poller.remove(wakeups[gone].descriptor)
            #expect(events(of: poller).map(\.token) == (0..<4).filter { $0 != UInt64(gone) })
            try poller.add(wakeups[gone].descriptor, token: 10, interest: .readable)
            #expect(events(of: poller).last?.token == 10)
            for wakeup in wakeups { poller.remove(wakeup.descriptor) }
        }
    }

    /// Whether it is asked for or not.
    private static func reportsFailure(_ poller: any Poller) throws {
        let pair = try Descriptors.pair()
        defer { SystemCalls.close(pair.near) }
        try poller.add(pair.near, token: 1, interest: [])
        #expect(events(of: poller).isEmpty)
        SystemCalls.setResetOnClose(pair.far)
        SystemCalls.close(pair.far)
        var seen: [PollEvent] = []
        poller.wait(.until(.now().advanced(by: .seconds(10))), into: &seen)
        #expect(seen.first?.readiness.contains(.failed) == true)
        poller.remove(pair.near)
    }

    /// When an instant has come, and not before.
    private static func comesBackInTime(_ poller: any Poller) {
        let instant = Instant.now().advanced(by: .milliseconds(5))
        var events: [PollEvent] = []
        poller.wait(.until(instant), into: &events)
        #expect(Instant.now() >= instant)
        #expect(events.isEmpty)
    }
}
