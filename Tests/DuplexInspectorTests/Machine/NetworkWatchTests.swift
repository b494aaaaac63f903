// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexInspector

@Suite("The network of the machine")
struct NetworkWatchTests {
    @Test("The interface to the machine itself is there, with its address")
    func interfaces() async throws {
        let group = try EventLoopGroup(loops: 1)
        let state = NetworkWatch(on: group).state
        let own = state.interfaces?.first { $0.name == "lo" }
        #expect(own?.up == true && own?.addresses.first == "127.0.0.1", "\(state)")
        // What there is at the beginning is no change; others may change their interfaces meanwhile.
        #expect(state.watches && !state.changes.contains { $0.text.hasPrefix("lo ") }, "\(state)")
        let states = try NetworkInterface.states()
        #expect(Set(states.map(\.name)).count == states.count)
        await group.stop()
    }
}
