// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Synchronization
import Testing

@testable import DuplexServer

@Suite("The time in logs")
struct LogTimeTests {
    @Test(
        "It is local in one form, and UTC in the other",
        arguments: [
            (971_211_336, -25_200, "10/Oct/2000:13:55:36 -0700", "2000-10-10T20:55:36Z"),
            (1_763_745_000, 3_600, "21/Nov/2025:18:10:00 +0100", "2025-11-21T17:10:00Z"),
            (951_782_399, 20_700, "29/Feb/2000:05:44:59 +0545", "2000-02-28T23:59:59Z"),
            (-1, 0, "31/Dec/1969:23:59:59 +0000", "1969-12-31T23:59:59Z"),
        ]
    )
    func forms(seconds: Int64, offset: Int, common: String, standard: String) {
        let time = LogTime(UnixTime(seconds: seconds), offset: offset)
        #expect(time.common == common && time.standard == standard)
    }

    @Test("A clock writes each second anew")
    func clock() {
        let seconds = Mutex<Int64>(0)
        let clock = LogClock { UnixTime(seconds: seconds.withLock { $0 }) }
        #expect(clock.now().standard == "1970-01-01T00:00:00Z" && clock.now() == clock.now())
        seconds.withLock { $0 = 61 }
        #expect(clock.now().standard == "1970-01-01T00:01:01Z")
    }
}
