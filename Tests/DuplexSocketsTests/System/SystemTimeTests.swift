// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import Testing

@Suite struct InstantNowTests {
    @Test("The clock never goes back")
    func order() {
        var last = Instant.now()
        #expect(last.nanoseconds > 0)
        for _ in 0..<1_000 {
            let next = Instant.now()
            #expect(next >= last)
            last = next
        }
    }

    @Test("The coarse clock is the same one, and never ahead of it")
    func coarse() {
        var last = Instant.coarse()
        for _ in 0..<1_000 {
            let coarse = Instant.coarse()
            #expect(coarse >= last && coarse <= Instant.now())
            last = coarse
        }
    }
}

@Suite struct UnixTimeNowTests {
    @Test("What has just been made isn't from a later second than the present one")
    func files() async throws {
        try await withTestFolder { root in
            let folder = try openedFolder(root)
            // Clocks of different precision differ at the beginning of a second.
            let second = UnixTime.now
            repeat {
                try folder.makeFolder("a")
                let changed = try #require(try folder.status(of: "a")?.changed)
                #expect(changed.seconds <= UnixTime.now.seconds)
                try folder.removeFolder("a")
            } while UnixTime.now == second
        }
    }
}
