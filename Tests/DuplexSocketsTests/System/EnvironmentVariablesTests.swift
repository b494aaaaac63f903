// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite("The environment")
struct EnvironmentVariablesTests {
    @Test("A variable that is set has its value, another none")
    func values() {
        #expect(EnvironmentVariables.value(of: "PATH")?.isEmpty == false)
        #expect(EnvironmentVariables.value(of: "DUPLEX_NO_SUCH_VARIABLE") == nil)
    }

    @Test("The system's clock is in this century")
    func clock() {
        #expect((1_700_000_000..<4_100_000_000).contains(UnixTime.now.seconds))
    }

    @Test("The time zone is within a day of UTC, and of whole minutes")
    func zone() {
        let offset = UnixTime(seconds: 1_700_000_000).localOffset
        #expect(abs(offset) < 86_400 && offset % 60 == 0)
    }
}
