// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization
import Testing

@testable import DuplexSockets

@Suite struct StageEventTests {
    @Test("It says which stage, of which address, and what happened to it in one line")
    func describes() throws {
        let now = Instant(nanoseconds: 1)
        let address = try SocketAddress("192.0.2.1", port: 443)
        let below = SocketError(.cannotConnect, message: "refused")
        let error = SocketError(.timedOut, message: "late", causes: [below])
        let cases: [(StageEvent, String)] = [
            (StageEvent(.nameLookup, .began, instant: now), "names began"),
            (StageEvent(.connecting, .abandoned, address: address, instant: now), "connecting 192.0.2.1:443 abandoned"),
            (StageEvent(.proxy, .failed(error), instant: now), "proxy failed: SocketError.timedOut: late"),
            (StageEvent(.tls, .ended, instant: now), "tls ended"),
            (StageEvent(.upgrade, .ended, instant: now), "upgrade ended"),
        ]
        for (event, text) in cases { #expect(event.description == text) }
        #expect(cases.map(\.0.phase.isEnd) == [false, true, true, true, true])
        #expect(cases.allSatisfy { $0.0.attempt == 1 && $0.0.request == 1 && $0.0.instant == now })
    }
}

@Suite struct StageTellerTests {
    @Test("What was begun is over once, at its instant; to give up is no failure")
    func ends() throws {
        struct Wrong: Error {}
        let told = Mutex<[StageEvent]>([])
        let time = ManualTime()
        let made = StageTeller({ event in told.withLock { $0.append(event) } }, .manual(time))
        let teller = try #require(made)
        let start = time.now
        teller.end()
        teller.begin(.nameLookup)
        time.set(start.advanced(by: .seconds(1)))
        teller.end()
        teller.end(Wrong())
        teller.begin(.tls, try SocketAddress("192.0.2.1", port: 1))
        teller.end(Wrong())
        teller.begin(.proxy)
        teller.end(CancellationError())
        teller.end()
        let events = told.withLock { $0 }
        let words = [
            "names began", "names ended", "tls 192.0.2.1:1 began", "tls 192.0.2.1:1 failed: Wrong()", "proxy began",
            "proxy abandoned",
        ]
        #expect(events.map(\.description) == words)
        #expect(events.map(\.duration) == [nil, .seconds(1), nil, .zero, nil, .zero])
        #expect(events.map { start.duration(to: $0.instant) } == [.zero] + Array(repeating: .seconds(1), count: 5))
    }

    @Test("Where nobody is told there is none")
    func nobody() {
        #expect(StageTeller(nil, .system) == nil)
    }
}
