// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization
import Testing

@testable import DuplexSockets

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
        teller.begin(.names)
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
