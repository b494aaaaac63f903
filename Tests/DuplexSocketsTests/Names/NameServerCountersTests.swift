// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct NameServerCountersTests {
    @Test("What many look-ups count adds up")
    func adding() async {
        let counters = NameServerCounters()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { counters.count { $0.ignored += 2 } } }
        }
        #expect(counters.statistics.ignored == 200)
        #expect(counters.statistics.datagrams == 0)
    }
}
