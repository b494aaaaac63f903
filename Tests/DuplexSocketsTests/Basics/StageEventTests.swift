// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct StageEventTests {
    @Test("It says which stage, of which address, and what happened to it in one line")
    func describes() throws {
        let now = Instant(nanoseconds: 1)
        let address = try SocketAddress("192.0.2.1", port: 443)
        let below = SocketError(.cannotConnect, message: "refused")
        let error = SocketError(.timedOut, message: "late", causes: [below])
        let cases: [(StageEvent, String)] = [
            (StageEvent(.names, .began, instant: now), "names began"),
            (StageEvent(.connecting, .abandoned, address: address, instant: now), "connecting 192.0.2.1:443 abandoned"),
            (StageEvent(.proxy, .failed(error), instant: now), "proxy failed: SocketError.timedOut: late"),
            (StageEvent(.tls, .ended, instant: now), "tls ended"),
            (StageEvent(StageEvent.Stage("login"), .ended, instant: now), "login ended"),
        ]
        for (event, text) in cases { #expect(event.description == text) }
        #expect(cases.map(\.0.phase.isEnd) == [false, true, true, true, true])
        #expect(cases.allSatisfy { $0.0.attempt == 1 && $0.0.request == 1 && $0.0.instant == now })
    }
}
