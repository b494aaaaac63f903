// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("The network of the machine")
struct NetworkWatchTests {
    @Test("The interface to the machine itself is there, with its address")
    func interfaces() async throws {
        let group = try EventLoopGroup(loops: 1)
        let text = NetworkWatch(on: group).json.text
        #expect(text.contains(#"{"name":"lo","up":true,"addresses":["127.0.0.1""#), "\(text)")
        // What there is at the beginning is no change; others may change their interfaces meanwhile.
        #expect(text.contains(#""watches":true,"changes":["#) && !text.contains(#""text":"lo "#), "\(text)")
        let states = try NetworkInterface.states()
        #expect(Set(states.map(\.name)).count == states.count)
        await group.stop()
    }
}
