// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct EventLoopGroupTests {
    @Test("A group has at least one loop", arguments: [(-1, 1), (0, 1), (1, 1), (3, 3)])
    func count(asked: Int, given: Int) async throws {
        let group = try EventLoopGroup(loops: asked)
        #expect(group.loops.count == given)
        await group.stop()
    }

    @Test("Loops take turns")
    func turns() async throws {
        let group = try EventLoopGroup(loops: 3)
        for round in 0..<7 { #expect(group.next() === group.loops[round % 3]) }
        await group.stop()
    }
}
